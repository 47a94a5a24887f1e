// Any text results in a pipeline or an error, within limits. SOAK_SCRIPTS=100000 runs the long
// version.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  anyScript,
  SCRIPT_RUNS,
  SCRIPT_TIMEOUT_MS,
} from '../../../tests/compat/mutated-scripts.ts';
import { buildPipeline, formatDot, parsePipeline, printPipeline, printVars } from './index.ts';
import type { BuildResult } from './index.ts';

const dbrps = [{ database: 'd', retentionPolicy: 'r' }];

/** Uses everything that a result offers. */
function exercise(text: string, isTemplate: boolean): BuildResult {
  const result = buildPipeline(text, { isTemplate });
  expect(result.pipeline === undefined).toBe(result.error !== undefined);
  expect(result.diagnostics.length > 0).toBe(result.error !== undefined);
  result.checkStart?.({ dbrps });
  result.warnings?.();
  printVars(result.vars);
  if (result.pipeline !== undefined) formatDot('task', result.pipeline);
  return result;
}

test('any text is evaluated without throwing', { timeout: SCRIPT_TIMEOUT_MS }, () => {
  fc.assert(
    fc.property(anyScript, fc.boolean(), (text, isTemplate) => {
      const { pipeline } = exercise(text, isTemplate);
      if (pipeline === undefined || isTemplate) return;
      const json = printPipeline(pipeline);
      const again = parsePipeline(json);
      expect(again.error).toBeUndefined();
      expect(printPipeline(again.pipeline!)).toEqual(json);
    }),
    { numRuns: SCRIPT_RUNS },
  );
});

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

test.each([
  [
    'lambdas that hold each other twice',
    `var v0 = lambda: "x" > 1\n${lines(60, (i) => `var v${i + 1} = lambda: v${i} AND v${i}`)}\nstream|from().where(v60)`,
    /expressions are too large/,
  ],
  [
    'texts that double',
    `var v0 = 'abcdefgh'\n${lines(60, (i) => `var v${i + 1} = v${i} + v${i}`)}\nstream|from()`,
    /text is longer than/,
  ],
  [
    'lists in lists',
    `var v0 = ['a']\n${lines(60, (i) => `var v${i + 1} = [v${i}, v${i}]`)}\nstream|from()`,
    /lists hold strings and stars only/,
  ],
  [
    'too many conditions',
    `var f = stream|from()\n${lines(3_000, (i) => `f.where(lambda: "x" > ${i})`)}`,
    /too many conditions/,
  ],
  [
    'too many properties',
    `var o = stream|from()|influxDBOut()\n${lines(6_000, (i) => `o.tag('k${i}', 'v')`)}`,
    /too many properties/,
  ],
  ['too many nodes', `var f = stream|from()\n${lines(11_000, () => 'f|log()')}`, /too many nodes/],
  ['division by zero', 'var a = 1 / 0\nstream|from()', /integer divide by zero/],
  ['modulo by zero', 'var a = 1 % 0\nstream|from()', /integer divide by zero/],
  ['a duration by zero', 'var a = 1s / 0s\nstream|from()', /integer divide by zero/],
])('refuses %s', (_name, script, text) => {
  expect(buildPipeline(script).error?.text).toMatch(text);
});
