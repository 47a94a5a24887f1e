// Formatting of every recorded case, directly on the package.
import { describe, expect, test } from 'vitest';
import { namedCases, recordedScripts } from '../../../tests/compat/recorded-engine-cases.ts';
import { formatScript, parseScript } from './index.ts';

const formatCases = namedCases((each) => each.type === 'format');

test('there are recorded cases to compare with', () => {
  expect(formatCases.length).toBeGreaterThan(40);
});

describe('formats as recorded', () => {
  test.each(formatCases)('%s', (_name, each) => {
    expect(parseScript(each.script ?? '').error).toBeUndefined();
    expect(formatScript(each.script ?? '')).toBe(each.formatted);
  });
});

test('formatting any recorded script again changes nothing', () => {
  for (const script of recordedScripts) {
    const once = formatScript(script);
    expect(formatScript(once)).toBe(once);
  }
});
