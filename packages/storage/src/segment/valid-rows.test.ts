import { expect, test } from 'vitest';

import { DecodeError } from '../columns/bytes.ts';
import { codecs } from '../columns/codecs.ts';
import { validRowsOf } from './valid-rows.ts';

function blockOf(rowCount: number, rows: readonly number[]): Uint8Array {
  const valid = new Uint8Array(rowCount);
  for (const row of rows) valid[row] = 1;
  return codecs().encodeValidity(valid);
}

test.each([
  [2000, [0, 1, 2, 700, 1999]],
  [2000, [13]],
  [4096, Array.from({ length: 40 }, (_, i) => i * 100 + 7)],
  [4096, [4095]],
])('finds the rows with a value among %d', (rowCount, rows) => {
  const found = validRowsOf(blockOf(rowCount, rows), rows.length);
  expect(found?.rowCount).toBe(rowCount);
  expect([...found!.rows]).toEqual(rows);
});

test('blocks of other encodings and of many values are left to the kernel', () => {
  const every = Array.from({ length: 100 }, (_, i) => i);
  expect(validRowsOf(blockOf(100, every), 100)).toBeUndefined();
  const second = every.filter((i) => i % 3 === 0);
  expect(validRowsOf(blockOf(100, second), second.length)).toBeUndefined();
});

test('blocks that contradict themselves or the number of values are refused', () => {
  const block = blockOf(2000, [5, 900]);
  expect(() => validRowsOf(block, 1)).toThrow(DecodeError);
  expect(() => validRowsOf(block, 3)).toThrow(DecodeError);
  for (let length = 3; length < block.length; length++) {
    expect(() => validRowsOf(block.subarray(0, length), 2)).toThrow(DecodeError);
  }
  expect(() => validRowsOf(Uint8Array.of(...block, 1), 2)).toThrow(DecodeError);
});
