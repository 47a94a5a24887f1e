// Bounds of 64-bit integers, and arithmetic that wraps around at them (docs/adr/0001-int64.md).
import { unreachable } from './assert.ts';
import type { FieldType } from './field-type.ts';

export const MIN_INT64 = -(2n ** 63n);
export const MAX_INT64 = 2n ** 63n - 1n;
export const MAX_UINT64 = 2n ** 64n - 1n;

/** A float truncated towards zero; `MIN_INT64` for NaN and for what an int64 cannot hold. */
export function floatToInt64(value: number): bigint {
  // 2^63 itself is the first double that is too large.
  return value >= -(2 ** 63) && value < 2 ** 63 ? BigInt(Math.trunc(value)) : MIN_INT64;
}

/** An integer modulo 2^64: between 0 and 2^64 - 1 for `unsigned`, otherwise an int64. */
export function wrapInteger(type: FieldType, value: bigint): bigint {
  return type === 'unsigned' ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value);
}

const FLOAT = new Float64Array(1);
const FLOAT_BITS = new BigInt64Array(FLOAT.buffer);

/** The bit pattern of a float as an integer. */
export function floatBits(value: number): bigint {
  FLOAT[0] = value;
  return FLOAT_BITS[0] ?? 0n;
}

/** The float with a bit pattern: the reverse of `floatBits`. */
export function floatOfBits(bits: bigint): number {
  FLOAT_BITS[0] = bits;
  return FLOAT[0] ?? 0;
}

/**
 * Operators on signed 64-bit integers, with one meaning in lambda expressions, constants of scripts
 * and conditions of handlers.
 */
export type Int64Operator = '+' | '-' | '*' | '/' | '%';

/** Whether an operator is one of these. */
export function isInt64Operator(operator: string): operator is Int64Operator {
  return operator.length === 1 && '+-*/%'.includes(operator);
}

/**
 * The result modulo 2^64; quotients are cut towards zero. `undefined` when `b` divides and is zero.
 */
export function wrapInt64(operator: Int64Operator, a: bigint, b: bigint): bigint | undefined {
  switch (operator) {
    case '+':
      return BigInt.asIntN(64, a + b);
    case '-':
      return BigInt.asIntN(64, a - b);
    case '*':
      return BigInt.asIntN(64, a * b);
    case '/':
      return b === 0n ? undefined : BigInt.asIntN(64, a / b);
    case '%':
      return b === 0n ? undefined : a % b;
    default:
      return unreachable(operator);
  }
}
