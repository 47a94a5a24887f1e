// Keeps blocks from wasting memory. A block has room for every field in every row; where few of
// them have values, rows are put in small blocks of their own. Otherwise a request of ten thousand
// rows, each with a field of its own, would take a gigabyte.
import { countValid } from '../columns/presence.ts';
import type { RowBlock } from '../columns/row-block.ts';

/** Blocks with fewer columns waste little. */
const WIDE_COLUMNS = 64;
/** A block is sparse when fewer than one in this many places has a value. */
const PLACES_PER_VALUE = 8;
/**
 * Sparse rows are split into blocks of this size, with columns only for the fields that occur in
 * them.
 */
export const SPARSE_PART_ROWS = 32;

/** Whether a block has many columns and few values. */
export function isSparse({ columns, rows }: RowBlock): boolean {
  if (columns.length < WIDE_COLUMNS || rows <= SPARSE_PART_ROWS) return false;
  const enough = (columns.length * rows) / PLACES_PER_VALUE;
  let values = 0;
  for (const { valid } of columns) {
    values += valid === undefined ? rows : countValid(valid, rows);
    if (values >= enough) return false;
  }
  return true;
}

/** Whether a block would have many columns and few values in the rows added to it. */
export function wouldBeSparse(block: RowBlock, added: RowBlock): boolean {
  let columns = block.columns.length;
  for (const { name } of added.columns) if (block.columnIndex(name) < 0) columns++;
  if (columns < WIDE_COLUMNS) return false;
  const isWidened = columns > block.columns.length && block.rows >= SPARSE_PART_ROWS;
  return isWidened || added.columns.length * PLACES_PER_VALUE < columns;
}
