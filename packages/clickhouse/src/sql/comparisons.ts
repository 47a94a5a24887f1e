// Comparisons of stored values with constants as SQL. Numbers are compared by their values,
// whatever type either has, as `compares` in the query package does: what a double can not hold
// exactly is turned into the comparison with its neighbour that means the same.
import type { FieldType, FieldValue } from '@tidemark/core';
import type { ComparisonOperator } from '@tidemark/query';

import { sqlFloat64, sqlInt64, sqlText } from './literals.ts';

const NEVER = '0';
const ALWAYS = '1';

/** Over the columns `f`, `i` and `s` of a row that holds a value of the type. */
export function comparison(
  type: FieldType,
  operator: ComparisonOperator,
  value: FieldValue,
): string {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? `s ${operator} ${sqlText(value)}` : NEVER;
    case 'boolean':
      return typeof value === 'boolean' ? `i ${operator} ${value ? 1 : 0}` : NEVER;
    case 'float':
      if (typeof value === 'number') return `f ${operator} ${sqlFloat64(value)}`;
      return typeof value === 'bigint' ? floatWithInteger(operator, value) : NEVER;
    default:
      if (typeof value === 'number') return integerWithFloat(type, operator, value);
      return typeof value === 'bigint' ? integers(type, operator, value) : NEVER;
  }
}

function floatWithInteger(operator: ComparisonOperator, value: bigint): string {
  const nearest = Number(value);
  const exact = BigInt(nearest);
  if (exact === value) return `f ${operator} ${sqlFloat64(nearest)}`;
  // No double lies between the value and its nearest double.
  const isBelow = exact < value;
  switch (operator) {
    case '=':
      return NEVER;
    case '!=':
      return ALWAYS;
    case '<':
    case '<=':
      return `f ${isBelow ? '<=' : '<'} ${sqlFloat64(nearest)}`;
    default:
      return `f ${isBelow ? '>' : '>='} ${sqlFloat64(nearest)}`;
  }
}

function integerWithFloat(
  type: 'integer' | 'unsigned',
  operator: ComparisonOperator,
  value: number,
): string {
  if (Number.isNaN(value)) return operator === '!=' ? ALWAYS : NEVER;
  if (!Number.isFinite(value)) return beyond(operator, value > 0);
  const floor = BigInt(Math.floor(value));
  if (Number.isInteger(value)) return integers(type, operator, floor);
  switch (operator) {
    case '=':
      return NEVER;
    case '!=':
      return ALWAYS;
    case '<':
    case '<=':
      return integers(type, '<=', floor);
    default:
      return integers(type, '>', floor);
  }
}

function integers(
  type: 'integer' | 'unsigned',
  operator: ComparisonOperator,
  value: bigint,
): string {
  if (type === 'integer') {
    if (BigInt.asIntN(64, value) !== value) return beyond(operator, value > 0n);
    return `i ${operator} ${sqlInt64(value)}`;
  }
  if (BigInt.asUintN(64, value) !== value) return beyond(operator, value > 0n);
  return `toUInt64(i) ${operator} toUInt64(${value})`;
}

/** With a constant that is larger, or smaller, than all values of the type. */
function beyond(operator: ComparisonOperator, isLarger: boolean): string {
  switch (operator) {
    case '=':
      return NEVER;
    case '!=':
      return ALWAYS;
    case '<':
    case '<=':
      return isLarger ? ALWAYS : NEVER;
    default:
      return isLarger ? NEVER : ALWAYS;
  }
}
