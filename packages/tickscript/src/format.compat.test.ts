// Formatting of every recorded case, directly on the package.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatScript, parseScript } from './index.ts';

type Case = { group: string; name: string; type: string; script: string; formatted?: string };

const cases = readFileSync(
  new URL('../../../tests/compat/engine-oracle-cases.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case);
const formatCases = cases.filter((each) => each.type === 'format');

test('there are recorded cases to compare with', () => {
  expect(formatCases.length).toBeGreaterThan(40);
});

describe('formats as recorded', () => {
  test.each(formatCases.map((each) => [each.name, each] as const))('%s', (_name, each) => {
    expect(parseScript(each.script).error).toBeUndefined();
    expect(formatScript(each.script)).toBe(each.formatted);
  });
});

test('formatting any recorded script again changes nothing', () => {
  for (const { script, group, name } of cases) {
    if (script === undefined) continue;
    const once = formatScript(script);
    expect(formatScript(once), `${group}/${name}`).toBe(once);
  }
});
