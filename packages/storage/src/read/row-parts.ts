// Parts of the rows of a chunk, where all of them with their columns would take too much memory.
import type { RowPart } from '../segment/large-texts.ts';

/**
 * How many rows of so many columns are read at once: fewer for very many columns, whose arrays
 * would fill the memory even if most values are nulls.
 */
export function rowsAtOnce(columns: number): number {
  return Math.max(PART_ROWS_MIN, Math.floor(PART_PLACES_MAX / Math.max(1, columns)));
}

/** Readers that want only a few rows are done after the first part. */
const FIRST_PART_ROWS = 8;
const PART_GROWTH = 4;

/** Ascending parts of rows; the one that is read first is small. */
export function partsOfRows(
  { from, to }: RowPart,
  rowsMax: number,
  descending: boolean,
): readonly RowPart[] {
  const parts: RowPart[] = [];
  let rows = FIRST_PART_ROWS;
  for (let at = 0; at < to - from; rows = Math.min(rowsMax, rows * PART_GROWTH)) {
    const end = Math.min(to - from, at + rows);
    parts.push(descending ? { from: to - end, to: to - at } : { from: from + at, to: from + end });
    at = end;
  }
  return descending ? parts.reverse() : parts;
}

/** Some twenty megabytes. */
const PART_PLACES_MAX = 1 << 21;
const PART_ROWS_MIN = 32;
