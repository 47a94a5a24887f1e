// Comparisons of a column with a constant of another numeric type, without rounding the constant.
import { MAX_INT64, MIN_INT64, MAX_UINT64 } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';

import { COMPARISONS } from './abi.gen.ts';

export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=';

/**
 * What to do with each value: keep all or none, or compare with `bound`, which has the column's
 * type. `flip` keeps the rows for which that is false.
 */
export type Comparison =
  | { readonly kind: 'all' | 'none' }
  | {
      readonly kind: 'compare';
      readonly operation: (typeof COMPARISONS)[keyof typeof COMPARISONS];
      readonly flip: boolean;
      readonly bound: number | bigint | boolean;
    };

const RANGES = {
  integer: { min: MIN_INT64, max: MAX_INT64 },
  unsigned: { min: 0n, max: MAX_UINT64 },
} as const;

/**
 * The comparison of a column of `type`; `none` where the types cannot be compared, as a predicate
 * is false there.
 */
export function planComparison(
  type: FieldType,
  operator: ComparisonOperator,
  value: FieldValue | { readonly unsigned: bigint },
): Comparison {
  const constant = typeof value === 'object' ? value.unsigned : value;
  if (type === 'boolean') {
    if (typeof constant !== 'boolean') return { kind: 'none' };
    if (operator !== '=' && operator !== '!=') return { kind: 'none' };
    return compare(operator, constant);
  }
  if (typeof constant !== 'number' && typeof constant !== 'bigint') return { kind: 'none' };
  if (type === 'float') return compareFloats(operator, constant);
  if (type === 'string') return { kind: 'none' };
  return compareIntegers(operator, constant, RANGES[type]);
}

function compare(operator: ComparisonOperator, bound: number | bigint | boolean): Comparison {
  switch (operator) {
    case '=':
      return { kind: 'compare', operation: COMPARISONS.equal, flip: false, bound };
    case '!=':
      return { kind: 'compare', operation: COMPARISONS.equal, flip: true, bound };
    case '<':
      return { kind: 'compare', operation: COMPARISONS.less, flip: false, bound };
    case '>=':
      return { kind: 'compare', operation: COMPARISONS.less, flip: true, bound };
    case '<=':
      return { kind: 'compare', operation: COMPARISONS.atMost, flip: false, bound };
    case '>':
      return { kind: 'compare', operation: COMPARISONS.atMost, flip: true, bound };
  }
}

/** The constant lies between two values of the column: `below` is the next lower one. */
function compareBetween(operator: ComparisonOperator, below: number | bigint): Comparison {
  if (operator === '=') return { kind: 'none' };
  if (operator === '!=') return { kind: 'all' };
  return compare(operator === '<' || operator === '<=' ? '<=' : '>', below);
}

/** The constant is above (or below) everything that the column can hold. */
function compareOutside(operator: ComparisonOperator, isAbove: boolean): Comparison {
  if (operator === '=') return { kind: 'none' };
  if (operator === '!=') return { kind: 'all' };
  const wantsLess = operator === '<' || operator === '<=';
  return { kind: wantsLess === isAbove ? 'all' : 'none' };
}

function compareFloats(operator: ComparisonOperator, constant: number | bigint): Comparison {
  if (typeof constant === 'number') {
    return Number.isNaN(constant)
      ? { kind: operator === '!=' ? 'all' : 'none' }
      : compare(operator, constant);
  }
  const nearest = Number(constant);
  const exact = BigInt(nearest);
  if (exact === constant) return compare(operator, nearest);
  if (exact < constant) return compareBetween(operator, nearest);
  // The nearest double is above: less than the constant means less than that double.
  if (operator === '=') return { kind: 'none' };
  if (operator === '!=') return { kind: 'all' };
  return compare(operator === '<' || operator === '<=' ? '<' : '>=', nearest);
}

function compareIntegers(
  operator: ComparisonOperator,
  constant: number | bigint,
  range: { readonly min: bigint; readonly max: bigint },
): Comparison {
  if (typeof constant === 'number') {
    if (Number.isNaN(constant)) return { kind: operator === '!=' ? 'all' : 'none' };
    if (!Number.isFinite(constant)) return compareOutside(operator, constant > 0);
    if (!Number.isInteger(constant)) {
      const below = BigInt(Math.floor(constant));
      if (below < range.min) return compareOutside(operator, false);
      return compareBetween(operator, below);
    }
    return compareIntegers(operator, BigInt(constant), range);
  }
  if (constant > range.max) return compareOutside(operator, true);
  if (constant < range.min) return compareOutside(operator, false);
  return compare(operator, constant);
}
