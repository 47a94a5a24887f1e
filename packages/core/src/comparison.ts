// Comparisons of field values, with one meaning everywhere: in conditions on rows, in kernels and
// as SQL. Numbers compare by their exact values, whatever their types; strings and booleans are
// only equal or not equal; values of other types do not compare, which makes a comparison false.
import type { FieldType, FieldValue } from './field-type.ts';
import { MAX_INT64, MAX_UINT64, MIN_INT64 } from './int64.ts';

const OPERATORS = ['=', '!=', '<', '<=', '>', '>='] as const;

export type ComparisonOperator = (typeof OPERATORS)[number];

/** Whether an operator of a language is a comparison. */
export function isComparison(operator: string): operator is ComparisonOperator {
  return OPERATORS.some((one) => one === operator);
}

/** Whether a comparison of two values holds. */
export function compareValues(a: FieldValue, operator: ComparisonOperator, b: FieldValue): boolean {
  if (!isNumber(a) || !isNumber(b)) {
    if (typeof a !== typeof b) return false;
    return operator === '=' ? a === b : operator === '!=' && a !== b;
  }
  switch (operator) {
    case '=':
      // oxlint-disable-next-line eqeqeq -- a bigint and a number are compared by value
      return a == b;
    case '!=':
      // oxlint-disable-next-line eqeqeq -- a bigint and a number are compared by value
      return a != b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
  }
}

function isNumber(value: FieldValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/**
 * How to compare all values of one type with a constant: all or none of them match, or each is
 * compared with `bound`, which has that type.
 */
export type ComparisonPlan =
  | { readonly kind: 'all' | 'none' }
  | {
      readonly kind: 'compare';
      readonly operator: ComparisonOperator;
      readonly bound: FieldValue;
    };

const ALL = { kind: 'all' } as const;
const NONE = { kind: 'none' } as const;

const RANGES = {
  integer: { min: MIN_INT64, max: MAX_INT64 },
  unsigned: { min: 0n, max: MAX_UINT64 },
} as const;

/**
 * The plan for values of `type`. A constant that the type cannot hold exactly is replaced by the
 * neighbour for which the comparison means the same.
 */
export function planComparison(
  type: FieldType,
  operator: ComparisonOperator,
  constant: FieldValue,
): ComparisonPlan {
  if (type === 'string' || type === 'boolean') {
    const isPossible = typeof constant === type && (operator === '=' || operator === '!=');
    return isPossible ? compare(operator, constant) : NONE;
  }
  if (!isNumber(constant)) return NONE;
  return type === 'float'
    ? planFloats(operator, constant)
    : planIntegers(operator, constant, RANGES[type]);
}

function compare(operator: ComparisonOperator, bound: FieldValue): ComparisonPlan {
  return { kind: 'compare', operator, bound };
}

function wantsLess(operator: ComparisonOperator): boolean {
  return operator === '<' || operator === '<=';
}

/** For a constant that no value equals: `unequal` decides `<` and `>`. */
function planUnequal(operator: ComparisonOperator, unequal: () => ComparisonPlan): ComparisonPlan {
  if (operator === '=') return NONE;
  return operator === '!=' ? ALL : unequal();
}

/** For a constant above or below everything that the type can hold. */
function planOutside(operator: ComparisonOperator, isAbove: boolean): ComparisonPlan {
  return planUnequal(operator, () => (wantsLess(operator) === isAbove ? ALL : NONE));
}

function planFloats(operator: ComparisonOperator, constant: number | bigint): ComparisonPlan {
  if (typeof constant === 'number') {
    return Number.isNaN(constant) ? planUnequal(operator, () => NONE) : compare(operator, constant);
  }
  const nearest = Number(constant);
  const exact = BigInt(nearest);
  if (exact === constant) return compare(operator, nearest);
  // No double lies between the constant and the double nearest to it.
  const isBelow = exact < constant;
  return planUnequal(operator, () =>
    wantsLess(operator)
      ? compare(isBelow ? '<=' : '<', nearest)
      : compare(isBelow ? '>' : '>=', nearest),
  );
}

function planIntegers(
  operator: ComparisonOperator,
  constant: number | bigint,
  range: { readonly min: bigint; readonly max: bigint },
): ComparisonPlan {
  if (Number.isNaN(constant)) return planUnequal(operator, () => NONE);
  if (constant > range.max) return planOutside(operator, true);
  if (constant < range.min) return planOutside(operator, false);
  if (typeof constant === 'bigint') return compare(operator, constant);
  const floor = BigInt(Math.floor(constant));
  if (Number.isInteger(constant)) return compare(operator, floor);
  return planUnequal(operator, () => compare(wantsLess(operator) ? '<=' : '>', floor));
}
