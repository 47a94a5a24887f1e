// Blocks have room for a value per row and field. Where few of the places would hold one, rows are
// kept in blocks of their own: a request of ten thousand rows with a field each would otherwise
// take a gigabyte.
import type { RowBlock } from '../columns/row-block.ts';

/** Fewer columns waste little, whatever is in them. */
const WIDE_COLUMNS = 64;
/** A place in so many is taken, or the block counts as sparse. */
const PLACES_PER_VALUE = 8;
/** Sparse rows are cut into parts of so many, which have columns only for the fields they have. */
export const SPARSE_PART_ROWS = 32;

/** Whether a block has many columns and few values in them. */
export function isSparse({ columns, rows }: RowBlock): boolean {
  if (columns.length < WIDE_COLUMNS || rows <= SPARSE_PART_ROWS) return false;
  const enough = (columns.length * rows) / PLACES_PER_VALUE;
  let values = 0;
  for (const { valid } of columns) {
    if (valid === undefined) values += rows;
    else for (let row = 0; row < rows; row++) values += valid[row]!;
    if (values >= enough) return false;
  }
  return true;
}

/**
 * Whether a block that takes the rows of another would have many columns and few values in the new
 * places.
 */
export function wouldBeSparse(block: RowBlock, added: RowBlock): boolean {
  let columns = block.columns.length;
  for (const { name } of added.columns) if (block.columnIndex(name) < 0) columns++;
  if (columns < WIDE_COLUMNS) return false;
  const isWidened = columns > block.columns.length && block.rows >= SPARSE_PART_ROWS;
  return isWidened || added.columns.length * PLACES_PER_VALUE < columns;
}
