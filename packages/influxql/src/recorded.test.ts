// Replays every query text that was recorded from a real server: refused texts are refused with the
// same words and places, answered texts parse and survive printing.
import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { BindParameter } from './parse.ts';
import { parseQuery } from './parse.ts';
import { printStatement } from './print.ts';

type Recorded = {
  readonly group: string;
  readonly request: {
    readonly path: string;
    readonly params?: Readonly<Record<string, string | null>>;
  };
  readonly status: number;
  readonly body: unknown;
};

const PREFIX = 'error parsing query: ';
const file = new URL('../../../tests/compat/oracle-cases.jsonl', import.meta.url);
const cases = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Recorded)
  .filter((recorded) => recorded.request.path === '/query' && queryOf(recorded) !== '');

const refused = cases.filter((recorded) => errorOf(recorded)?.startsWith(PREFIX) === true);
const answered = cases.filter(
  (recorded) => recorded.status === 200 && errorOf(recorded) === undefined,
);

describe('texts that a real server refuses', () => {
  test('there are many of them', () => {
    expect(refused.length).toBeGreaterThan(200);
  });

  test.each(refused.map((recorded) => [queryOf(recorded), recorded] as const))('%s', (text, it) => {
    const result = parseQuery(text, { parameters: parametersOf(it) });

    expect(PREFIX + String(result.error)).toBe(errorOf(it));
    expect(result.diagnostics[0]?.message).toBe(result.error);
  });
});

describe('texts that a real server answers', () => {
  test('there are many of them', () => {
    expect(answered.length).toBeGreaterThan(1000);
  });

  test.each(answered.map((recorded) => [queryOf(recorded), recorded] as const))(
    '%s',
    (text, it) => {
      const result = parseQuery(text, { parameters: parametersOf(it) });

      expect(result.error).toBeUndefined();
      const printed = result.query.statements.map((one) => printStatement(one)).join('; ');
      const again = parseQuery(printed);
      expect(again.error).toBeUndefined();
      const printedAgain = again.query.statements.map((one) => printStatement(one)).join('; ');
      expect(printedAgain).toBe(printed);
    },
  );
});

function queryOf(recorded: Recorded): string {
  return recorded.request.params?.['q'] ?? '';
}

function errorOf(recorded: Recorded): string | undefined {
  const { body } = recorded;
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  return String(body.error);
}

function parametersOf(recorded: Recorded): ReadonlyMap<string, BindParameter> {
  const text = recorded.request.params?.['params'] ?? '{}';
  const values = JSON.parse(text) as Record<string, BindParameter>;
  const isInteger = (value: BindParameter): value is number => Number.isInteger(value);
  return new Map(
    Object.entries(values).map(([name, value]) => [name, isInteger(value) ? BigInt(value) : value]),
  );
}
