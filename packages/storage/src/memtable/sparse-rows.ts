// Decides which rows are stored without columns (`columns/sparse-values.ts`), because columns would
// have few values.
import { countValid } from '../columns/presence.ts';
import type { RowBlock } from '../columns/row-block.ts';

/** Blocks with fewer columns waste little. */
const WIDE_COLUMNS = 64;
/** Columns are sparse when fewer than one in this many places has a value. */
const PLACES_PER_VALUE = 8;
/** From this number of rows on, a new column takes more memory than a value without one. */
export const WIDENED_ROWS_MAX = 32;

/** Whether a block has many columns and few values. */
export function isSparse({ columns, rows }: RowBlock): boolean {
  if (columns.length < WIDE_COLUMNS) return false;
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
  for (const { name } of added.fields) if (block.columnIndex(name) < 0) columns++;
  if (columns < WIDE_COLUMNS) return false;
  const isWidened = columns > block.columns.length && block.rows >= WIDENED_ROWS_MAX;
  return isWidened || added.fields.length * PLACES_PER_VALUE < columns;
}
