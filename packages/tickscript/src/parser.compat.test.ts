// Syntax errors of every recorded case, directly on the package.
import { describe, expect, test } from 'vitest';
import { engineCases, namedCases } from '../../../tests/compat/recorded-engine-cases.ts';
import { parseScript } from './index.ts';

const PREFIX = 'invalid TICKscript: ';
const syntaxErrors = namedCases((each) => each.error?.startsWith(`${PREFIX}parser: `) === true);

test('there are recorded cases to compare with', () => {
  expect(syntaxErrors.length).toBeGreaterThan(40);
});

describe('refuses with the recorded text', () => {
  test.each(syntaxErrors)('%s', (_name, each) => {
    expect(parseScript(each.script ?? each.template?.script ?? '').error).toBe(
      each.error?.slice(PREFIX.length),
    );
  });
});

test('accepts every script that was recorded without a syntax error', () => {
  for (const { script, error, group, name } of engineCases) {
    if (script === undefined || error?.includes('parser: ') === true) continue;
    expect(parseScript(script).error, `${group}/${name}`).toBeUndefined();
  }
});
