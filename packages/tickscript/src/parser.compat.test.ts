// Syntax errors of every recorded case, directly on the package.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseScript } from './index.ts';

type Case = {
  group: string;
  name: string;
  script?: string;
  template?: { script: string };
  error?: string;
};

const PREFIX = 'invalid TICKscript: ';
const cases = readFileSync(
  new URL('../../../tests/compat/engine-oracle-cases.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case);
const syntaxErrors = cases.filter((each) => each.error?.startsWith(`${PREFIX}parser: `));

test('there are recorded cases to compare with', () => {
  expect(syntaxErrors.length).toBeGreaterThan(40);
});

describe('refuses with the recorded text', () => {
  test.each(syntaxErrors.map((each) => [each.name, each] as const))('%s', (_name, each) => {
    expect(parseScript(each.script ?? each.template?.script ?? '').error).toBe(
      each.error?.slice(PREFIX.length),
    );
  });
});

test('accepts every script that was recorded without a syntax error', () => {
  for (const { script, error, group, name } of cases) {
    if (script === undefined || error?.includes('parser: ') === true) continue;
    expect(parseScript(script).error, `${group}/${name}`).toBeUndefined();
  }
});
