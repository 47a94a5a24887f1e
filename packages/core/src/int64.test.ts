// Arithmetic of 64-bit integers: overflow, division, floats that do not fit.
import { expect, test } from 'vitest';

import {
  floatBits,
  floatToInt64,
  isInt64Operator,
  MAX_INT64,
  MAX_UINT64,
  MIN_INT64,
  wrapInt64,
  wrapInteger,
} from './int64.ts';

test.each([
  ['+', MAX_INT64, 1n, MIN_INT64],
  ['-', MIN_INT64, 1n, MAX_INT64],
  ['*', MAX_INT64, 2n, -2n],
  ['/', MIN_INT64, -1n, MIN_INT64],
  ['/', -7n, 2n, -3n],
  ['%', -7n, 2n, -1n],
  ['/', 1n, 0n, undefined],
  ['%', 1n, 0n, undefined],
] as const)('%s of %i and %i', (operator, a, b, result) => {
  expect(wrapInt64(operator, a, b)).toBe(result);
});

test.each([
  ['integer', MAX_INT64 + 1n, MIN_INT64],
  ['integer', MIN_INT64 - 1n, MAX_INT64],
  ['unsigned', -1n, MAX_UINT64],
  ['unsigned', MAX_UINT64 + 2n, 1n],
] as const)('%s wraps %i', (type, value, result) => {
  expect(wrapInteger(type, value)).toBe(result);
});

test('the ends are those of two words', () => {
  expect([MIN_INT64, MAX_INT64, MAX_UINT64]).toEqual([
    BigInt.asIntN(64, 1n << 63n),
    BigInt.asIntN(64, (1n << 63n) - 1n),
    BigInt.asUintN(64, -1n),
  ]);
});

test('operators of other kinds are told apart', () => {
  expect(['+', '%', '+-', '', '==', 'AND', '&'].map(isInt64Operator)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test('floats are cut towards zero, and what does not fit is the smallest integer', () => {
  expect([1.9, -1.9, -0, 2 ** 53, -(2 ** 63)].map(floatToInt64)).toEqual([
    1n,
    -1n,
    0n,
    2n ** 53n,
    MIN_INT64,
  ]);
  expect([2 ** 63, 1e300, Infinity, -Infinity, NaN].map(floatToInt64)).toEqual(
    Array(5).fill(MIN_INT64),
  );
});

test('the bits of a float are those that memory has', () => {
  expect([0, 1, -0].map(floatBits)).toEqual([0n, 0x3ff0000000000000n, MIN_INT64]);
});
