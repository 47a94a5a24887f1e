// Mistakes with which a task may start, as recorded, although every point will fail: they are
// reported beforehand, with their position.
import { describe, expect, test } from 'vitest';
import { recordedScripts } from '../../../tests/compat/recorded-engine-cases.ts';
import { buildPipeline } from './index.ts';

const dbrps = [{ database: 'd', retentionPolicy: 'r' }];

function warnings(script: string) {
  const built = buildPipeline(script);
  expect(built.error).toBeUndefined();
  expect(built.checkStart?.({ dbrps })).toEqual([]);
  return built.warnings?.() ?? [];
}

/** The lambda of a `|where()`: the piece at fault, the message without the node, the hint. */
function about(lambda: string) {
  const script = `stream\n  |from()\n  |where(lambda: ${lambda})`;
  return warnings(script).map(({ code, span, message, line, hint }) => {
    expect([code, line]).toEqual(['TICK_FAILS_ON_POINTS', 3]);
    return [script.slice(span.start, span.end), message.replace('where2: ', ''), hint];
  });
}

describe('a condition', () => {
  test.each([
    [
      'strLenght("a") > 1',
      'strLenght("a")',
      'undefined function: "strLenght"',
      'did you mean strLength?',
    ],
    [
      'level() > 1',
      'level()',
      'undefined function: "level"',
      'it is known in match expressions of handlers only',
    ],
    ['strLength(5) > 1', 'strLength(5)', 'no signature of strLength takes (int)', undefined],
    ['abs("a", 1.0) > 1.0', 'abs("a", 1.0)', 'no signature of abs takes (any, float)', undefined],
    ['if("a", 1) == 1', 'if("a", 1)', 'no signature of if takes (any, int)', undefined],
    [
      'strLength("a") == \'x\'',
      "'x'",
      'mismatched type to binary operator. got int == string. see bool(), int(), float(), string(), duration()',
      undefined,
    ],
    [
      '"time" > 5',
      '"time"',
      'invalid comparison operator > for type time',
      'times have no operators; take unixNano("time"), hour("time") and the like',
    ],
    [
      '-strToUpper("a") == \'x\'',
      'strToUpper("a")',
      'invalid unary operator - for type string',
      undefined,
    ],
    ['strLength("a")', 'strLength("a")', 'the result is int, where boolean is needed', undefined],
    ['"ok" AND strLength(nofn("a")) > 1', 'nofn("a")', 'undefined function: "nofn"', undefined],
  ])('%s', (lambda, piece, message, hint) => {
    expect(about(lambda)).toEqual([[piece, message, hint]]);
  });

  test.each([
    '"a"',
    '"a" + "b" > "c"',
    'if("a", "b", TRUE)',
    'if("ok", 1.0, 2.0) > 1',
    'isPresent("a") AND !"b"',
    'abs("a") > 1 AND hour("time") == 5',
    'sigma("a") > 3.0 AND count() % 2 == 0',
    'bool("a") OR strContains("a", string("b"))',
    'duration("a", 1s) > 5s',
  ])('%s may hold', (lambda) => {
    expect(about(lambda)).toEqual([]);
  });
});

test('results of any type are fields; conditions of alerts and replicas have theirs', () => {
  const script = `var s = stream|from()
s|eval(lambda: strLength("a")).as('n')
s|alert().info(lambda: "a").crit(lambda: 5)
s|k8sAutoscale().resourceName('a').replicas(lambda: float("a"))`;

  expect(warnings(script).map(({ line, message }) => [line, message])).toEqual([
    [3, 'alert3: the result is int, where boolean is needed'],
    [4, 'k8s_autoscale4: the result is float, where int is needed'],
  ]);
});

test('few recorded scripts are warned of', () => {
  const sample = recordedScripts.filter((_, i) => i % 4 === 0);
  const warned = sample.filter((script) => {
    const built = buildPipeline(script);
    return built.checkStart?.({ dbrps }).length === 0 && (built.warnings?.().length ?? 0) > 0;
  });

  // All of them are cases of errors; a warning of what works would show here.
  expect(warned.length).toBeLessThan(8);
});
