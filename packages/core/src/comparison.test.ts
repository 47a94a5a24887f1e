import fc from 'fast-check';
import { expect, test } from 'vitest';

import { compareValues, isComparison, planComparison } from './comparison.ts';
import type { ComparisonOperator, ComparisonPlan } from './comparison.ts';
import type { FieldType, FieldValue } from './field-type.ts';
import { MAX_INT64, MAX_UINT64, MIN_INT64 } from './int64.ts';

test.each<readonly [FieldValue, ComparisonOperator, FieldValue, boolean]>([
  [1, '=', 1n, true],
  [2n ** 53n + 1n, '=', 2 ** 53, false],
  [2n ** 53n + 1n, '>', 2 ** 53, true],
  [MAX_UINT64, '>', MAX_INT64, true],
  ['a', '=', 'a', true],
  ['a', '!=', 'b', true],
  ['a', '<', 'b', false],
  [true, '!=', false, true],
  [true, '>', false, false],
  ['1', '=', 1, false],
  ['1', '!=', 1, false],
])('%o %s %o is %o', (a, operator, b, expected) => {
  expect(compareValues(a, operator, b)).toBe(expected);
});

test('knows the comparisons among operators', () => {
  expect(['=', '>=', '=~', '+', 'AND'].map(isComparison)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

const int64 = fc.oneof(fc.bigInt(MIN_INT64, MAX_INT64), fc.constantFrom(MIN_INT64, MAX_INT64, 0n));
const uint64 = fc.oneof(fc.bigInt(0n, MAX_UINT64), fc.constantFrom(0n, MAX_UINT64));
const float = fc.oneof(
  fc.double({ noNaN: true }),
  int64.map(Number),
  fc.constantFrom(2 ** 53, 2 ** 63, 2 ** 64, -(2 ** 63), 0.5, -0.5),
);
const VALUES: Record<FieldType, fc.Arbitrary<FieldValue>> = {
  float,
  integer: int64,
  unsigned: uint64,
  string: fc.constantFrom('', 'a', 'b'),
  boolean: fc.boolean(),
};
/** Neighbours of a value are what a rounded constant would be taken for. */
function near(value: FieldValue): fc.Arbitrary<FieldValue> {
  if (typeof value === 'number' && Number.isFinite(value)) {
    return fc.constantFrom<FieldValue>(value, BigInt(Math.trunc(value)) + 1n, value + 0.5);
  }
  if (typeof value !== 'bigint') return fc.constant(value);
  return fc.constantFrom<FieldValue>(value, value - 1n, value + 1n, Number(value));
}

test('a plan says of every value what the comparison says', () => {
  const any = fc.oneof(...Object.values(VALUES), fc.constant(Number.NaN));
  const cases = fc
    .constantFrom<FieldType>('float', 'integer', 'unsigned', 'string', 'boolean')
    .chain((type) => VALUES[type].map((value) => ({ type, value })))
    .chain((one) => fc.oneof(any, near(one.value)).map((constant) => ({ ...one, constant })));
  const operators = fc.constantFrom<ComparisonOperator>('=', '!=', '<', '<=', '>', '>=');
  fc.assert(
    fc.property(cases, operators, ({ type, value, constant }, operator) => {
      const plan = planComparison(type, operator, constant);
      expect(matches(plan, value)).toBe(compareValues(value, operator, constant));
      if (plan.kind === 'compare') expect(typeof plan.bound).toBe(typeof value);
    }),
    { numRuns: 5000 },
  );
});

function matches(plan: ComparisonPlan, value: FieldValue): boolean {
  return plan.kind === 'compare'
    ? compareValues(value, plan.operator, plan.bound)
    : plan.kind === 'all';
}
