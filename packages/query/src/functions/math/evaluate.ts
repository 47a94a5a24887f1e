// Math functions over whole columns. Nulls stay nulls; a result that is not a number is NaN here
// and null in answers.
import { columnLength, unreachable } from '@tidemark/core';
import type { Column, FloatColumn, Validity } from '@tidemark/core';

import { floatsOf } from '../transformations/points.ts';
import { BINARY_FUNCTIONS, UNARY_FUNCTIONS } from './functions.ts';

/**
 * The values of the math function `name` for columns of equal length: one, or two for `atan2`,
 * `pow` and `log`. `abs`, `ceil`, `floor` and `round` keep the type of numbers; other functions
 * return floats. Columns that are not numeric give nulls.
 */
export function evaluateMath(name: string, given: readonly Column[]): Column {
  const [first, second] = given;
  const rowCount = first === undefined ? 0 : columnLength(first);
  if (first === undefined || !given.every(isNumeric)) return nulls(rowCount);
  const unary = UNARY_FUNCTIONS.get(name);
  if (unary !== undefined) {
    if (unary.keepsType && first.type !== 'float') {
      return name === 'abs' ? absoluteIntegers(first) : first;
    }
    const values = floatsOf(first).map((value) => unary.apply(value));
    return { type: 'float', values, valid: first.valid };
  }
  const binary = BINARY_FUNCTIONS.get(name);
  if (binary === undefined || second === undefined) return nulls(rowCount);
  const left = floatsOf(first);
  const right = floatsOf(second);
  const values = new Float64Array(rowCount);
  for (let i = 0; i < rowCount; i++) values[i] = binary(left[i] ?? NaN, right[i] ?? NaN);
  return { type: 'float', values, valid: bothValid(first.valid, second.valid) };
}

function isNumeric(column: Column): boolean {
  return column.type === 'float' || column.type === 'integer' || column.type === 'unsigned';
}

/** The smallest int64 has no positive counterpart and stays as it is. */
function absoluteIntegers(column: Column): Column {
  switch (column.type) {
    case 'integer': {
      const values = column.values.map((value) => (value < 0n ? -value : value));
      return { type: 'integer', values, valid: column.valid };
    }
    case 'float':
    case 'unsigned':
    case 'boolean':
    case 'string':
      return column;
    default:
      return unreachable(column);
  }
}

function bothValid(left: Validity, right: Validity): Validity {
  if (left === undefined || right === undefined) return left ?? right;
  return left.map((isValid, i) => isValid & (right[i] ?? 0));
}

function nulls(rowCount: number): FloatColumn {
  return { type: 'float', values: new Float64Array(rowCount), valid: new Uint8Array(rowCount) };
}
