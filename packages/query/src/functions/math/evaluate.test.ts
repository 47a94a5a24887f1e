import { readFileSync } from 'node:fs';

import type { Column, FieldValue } from '@tidemark/core';
import { columnFrom, columnValue } from '@tidemark/core';
import { describe, expect, test } from 'vitest';

import { evaluateMath } from './evaluate.ts';

type Recorded = {
  readonly group: string;
  readonly writes: readonly { readonly lines: readonly string[] }[];
  readonly request: { readonly params: { readonly q?: string | null } };
  readonly body: {
    readonly results?: readonly {
      readonly series?: readonly { readonly values: readonly (readonly (number | null)[])[] }[];
    }[];
  };
};

const CALL = /^SELECT ([a-z]+\d*)\((\w+)(?:, (\w+(?:\.\d+)?))?\) FROM trig$/;

const file = new URL('../../../../../tests/compat/oracle-cases.jsonl', import.meta.url);
const cases = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{"group":"math"'))
  .map((line) => JSON.parse(line) as Recorded)
  .map((recorded) => [recorded.request.params.q ?? '', recorded] as const)
  .filter(
    ([text, recorded]) => CALL.test(text) && recorded.body.results?.[0]?.series !== undefined,
  );

const V = [4, -1, 0, 0.5, 2.718281828459045];
const N = [40n, -10n, 0n, 5n, 27n];

function operand(text: string): Column {
  if (text === 'v') return columnFrom('float', V);
  if (text === 'n') return columnFrom('integer', N);
  return columnFrom(
    'float',
    V.map(() => Number(text)),
  );
}

describe('recorded numbers', () => {
  test('there are many cases', () => {
    expect(cases.length).toBeGreaterThan(25);
  });

  test.each(cases)('%s', (text, recorded) => {
    const [, name = '', first = '', second] = CALL.exec(text) ?? [];
    const given = second === undefined ? [operand(first)] : [operand(first), operand(second)];
    const expected = recorded.body.results?.[0]?.series?.[0]?.values.map(([, value]) => value);
    // The recorded server returns integers unchanged; an absolute value is what the name says.
    const wanted = text === 'SELECT abs(n) FROM trig' ? [40, 10, 0, 5, 27] : (expected ?? []);

    const column = evaluateMath(name, given);

    for (const [i, value] of wanted.entries()) {
      const own = Number(columnValue(column, i) ?? NaN);
      if (value === null) expect(own).toBeNaN();
      else expect(Math.abs(own - (value ?? NaN))).toBeLessThanOrEqual(Math.abs(value ?? 0) * 2e-15);
    }
  });
});

describe('math functions', () => {
  test.each<readonly [string, readonly FieldValue[]]>([
    ['round', [2, -2, 3, -3, 0]],
    ['floor', [1, -2, 2, -3, 0]],
    ['ceil', [2, -1, 3, -2, 1]],
    ['abs', [1.5, 1.5, 2.5, 2.5, 0.4999999999999999]],
  ])('%s of floats', (name, expected) => {
    const column = evaluateMath(name, [
      columnFrom('float', [1.5, -1.5, 2.5, -2.5, 0.4999999999999999]),
    ]);

    expect(expected.map((_, i) => columnValue(column, i))).toEqual(expected);
  });

  test('keep integers exact', () => {
    const values = [9223372036854775807n, -9223372036854775807n, -9223372036854775808n];
    const column = columnFrom('integer', values);

    const absolute = evaluateMath('abs', [column]);

    expect(values.map((_, i) => columnValue(absolute, i))).toEqual([
      9223372036854775807n,
      9223372036854775807n,
      -9223372036854775808n,
    ]);
    expect(evaluateMath('round', [column])).toBe(column);
  });

  test('keep nulls, and give nulls for what is no number', () => {
    const sparse = columnFrom('float', [1, null, 3]);

    expect(columnValue(evaluateMath('sqrt', [sparse]), 1)).toBeNull();
    expect(
      columnValue(evaluateMath('pow', [columnFrom('float', [2, 2, 2]), sparse]), 1),
    ).toBeNull();
    const texts = evaluateMath('sin', [columnFrom('string', ['a', 'b'])]);
    expect([columnValue(texts, 0), columnValue(texts, 1)]).toEqual([null, null]);
  });

  test('1 to any power is 1', () => {
    const column = evaluateMath('pow', [columnFrom('float', [1]), columnFrom('float', [NaN])]);

    expect(columnValue(column, 0)).toBe(1);
  });
});
