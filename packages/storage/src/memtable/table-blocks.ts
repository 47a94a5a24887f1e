// Reads the rows of a table in the order of their series, in blocks.
import type { SeriesRows } from '../columns/series-rows.ts';
import { mergeSeriesRows } from '../columns/series-rows.ts';
import type { Column } from '@tidemark/core';
import { Uint32List } from '../columns/uint32-list.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { RowPick } from './row-pick.ts';
import type { Table } from './table.ts';

export type TableBlocksSource = {
  readonly table: Table;
  /** Number of rows of the table that are visible. */
  readonly rows: number;
  /** Id of the series with this ordinal; `undefined` when its rows are not wanted. */
  readonly seriesId: (ordinal: number) => SeriesId | undefined;
  /** Columns to read; `undefined` for a column that is null in all rows. */
  readonly columns: (pick: RowPick) => readonly (Column | undefined)[];
};

/** A block is yielded when it has this many rows. */
const BLOCK_ROWS = 4096;
/** Series that are visited between two pauses. */
const STEP_SERIES = 1024;

/**
 * Yields blocks that ascend strictly by series and time. Of rows with equal times, each field keeps
 * its last value. `undefined` is a pause.
 */
export function* tableBlocks(source: TableBlocksSource): Generator<SeriesRows | undefined, void> {
  const { table } = source;
  const rows = new Uint32List();
  const series = new Uint32List();
  const block = (): SeriesRows => {
    const pick = table.pick(rows.toArray());
    const columns = source.columns(pick);
    const all = { series: series.toArray(), times: pick.times(), columns };
    rows.clear();
    series.clear();
    return mergeSeriesRows([all]);
  };
  let seen = 0;
  for (let at = table.nextOrdinal(0); at < table.ordinalEnd; at = table.nextOrdinal(at + 1)) {
    if (++seen % STEP_SERIES === 0) yield undefined;
    const id = source.seriesId(at);
    if (id === undefined) continue;
    table.listRows(at, source.rows, rows);
    while (series.length < rows.length) series.push(id);
    if (rows.length >= BLOCK_ROWS) yield block();
  }
  if (rows.length > 0) yield block();
}
