// Columns that only tell which rows have a value, for requests that count. Their values are
// unspecified.
import type { Column } from '@tidemark/core';

/** How many of the first rows have a value. */
export function countValid(valid: Uint8Array, rows = valid.length): number {
  let count = 0;
  for (let row = 0; row < rows; row++) count += valid[row]!;
  return count;
}

const SHARED_ROWS = 1 << 12;
const shared = new Uint8Array(SHARED_ROWS);

/**
 * A column of `count` rows, without nulls when `valid` is missing. Its values are shared with other
 * columns and must not be changed.
 */
export function presenceColumn(count: number, valid: Uint8Array | undefined): Column {
  const values = count <= SHARED_ROWS ? shared.subarray(0, count) : new Uint8Array(count);
  return { type: 'boolean', values, valid };
}
