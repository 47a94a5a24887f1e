// The unit in which rows in memory are read: those that neighbouring series have in a table.
// Answers and flushes read these, as answers and merges read `StoredRows` of segments.
import type { Column, FieldType, TimeRange } from '@tidemark/core';

import type { TimeSpan } from '../columns/overlaps.ts';
import { timeBoundsOf } from '../columns/row-order.ts';
import { lowerBound, mergeRuns, runStart, unorderedRuns } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { mergeSeriesRows, seriesOfRows } from '../columns/series-rows.ts';
import type { SeriesRows, SeriesRuns } from '../columns/series-rows.ts';
import { Uint32List } from '../columns/uint32-list.ts';
import type { RowPick } from './row-pick.ts';
import { orderRuns } from './run-order.ts';
import type { Table } from './table.ts';

/** A table with the number of its rows that are visible. */
export type TableView = {
  readonly table: Table;
  readonly rows: number;
  /** Where the table is a part of another one: whether that is dense (`isDense`). */
  readonly isDense?: boolean | undefined;
};

/** Whether a table has so many rows of each series that these are better read one by one. */
export function isDense({ table, rows, isDense: known }: TableView, rowsMin: number): boolean {
  return known ?? rows >= table.ordinalEnd * rowsMin;
}

type Parts = {
  readonly table: Table;
  /** Numbers of the rows in the table, those of one series after another. */
  readonly rows: Uint32Array;
  readonly times: BigInt64Array;
  readonly runs: SeriesRuns;
  readonly isAscending: boolean;
};

export class TableRows {
  readonly #table: Table;
  readonly #rows: Uint32Array;
  readonly times: BigInt64Array;
  /** The series, ascending, and where the rows of each end. */
  readonly runs: SeriesRuns;
  /** Whether the times of each series ascend strictly. */
  readonly isAscending: boolean;
  #picked: RowPick | undefined;

  private constructor({ table, rows, times, runs, isAscending }: Parts, picked?: RowPick) {
    this.#table = table;
    this.#rows = rows;
    this.times = times;
    this.runs = runs;
    this.isAscending = isAscending;
    this.#picked = picked;
  }

  /**
   * Takes ownership of `rows`, their numbers in the order of arrival, and sorts those of a series
   * by time where whole batches came out of order.
   */
  static of(table: Table, rows: Uint32Array, runs: SeriesRuns): TableRows {
    let picked = table.pick(rows);
    let times = picked.times();
    const unordered = unorderedRuns(times, runs.ends);
    const moved = unordered.filter((run) =>
      orderRuns(rows, times, { start: runStart(runs.ends, run), end: runs.ends[run]! }),
    );
    if (moved.length > 0) {
      picked = table.pick(rows);
      times = picked.times();
    }
    const isAscending = moved.length === unordered.length;
    return new TableRows({ table, rows, times, runs, isAscending }, picked);
  }

  get count(): number {
    return this.#rows.length;
  }

  /** The first and the last time. */
  span(): TimeSpan {
    const { times, isAscending, runs } = this;
    if (isAscending && runs.ids.length === 1) return { minTime: times[0]!, maxTime: times.at(-1)! };
    const { min, max } = timeBoundsOf(times);
    return { minTime: min, maxTime: max };
  }

  /** The type of a field; `undefined` when no row of the table has it. */
  typeOf(name: string): FieldType | undefined {
    return this.#table.typeOf(name);
  }

  /** A copy of the values of a field, one for each row; `undefined` when all are nulls. */
  column(field: { readonly name: string; readonly type: FieldType }): Column | undefined {
    return this.#pick.column(field);
  }

  /** Which rows have a value of the field (`presence.ts`); `undefined` when none has. */
  presence(name: string): Column | undefined {
    return this.#pick.presence(name);
  }

  /** Columns of the rows, which are of one series: of rows with equal times, the last values. */
  left(run: Run): Run {
    return this.isAscending ? run : mergeRuns([run]);
  }

  /** As `left`, of any number of series, with that of each row. */
  leftOfSeries(run: Run): SeriesRows {
    const { ids, ends } = this.runs;
    const rows = { ...run, series: seriesOfRows(ids, ends) };
    return this.isAscending ? rows : mergeSeriesRows([rows]);
  }

  /** The rows of one of the series. */
  ofSeries(index: number): TableRows {
    const { ids, ends } = this.runs;
    return this.#part(ids[index]!, runStart(ends, index), ends[index]!);
  }

  /** Those of the rows, which are of one series, within a range; all if they do not ascend. */
  within({ start, end }: TimeRange): TableRows {
    if (!this.isAscending) return this;
    const { times } = this;
    const from = lowerBound(times, start);
    const to = lowerBound(times, end + 1n, from);
    return to - from === times.length ? this : this.#part(this.runs.ids[0]!, from, to);
  }

  /** Selects rows by their index among these. */
  pick(indexes: Uint32Array): RowPick {
    return this.#table.pick(indexes.map((index) => this.#rows[index]!));
  }

  #part(id: SeriesId, from: number, to: number): TableRows {
    return new TableRows({
      table: this.#table,
      rows: this.#rows.subarray(from, to),
      times: this.times.subarray(from, to),
      runs: runsOfOne(id, to - from),
      isAscending: this.isAscending,
    });
  }

  get #pick(): RowPick {
    this.#picked ??= this.#table.pick(this.#rows);
    return this.#picked;
  }
}

function runsOfOne(id: SeriesId, count: number): SeriesRuns {
  return { ids: Uint32Array.of(id), ends: Uint32Array.of(count) };
}

/** Reused by every call: with many series, a new list for each would be most of the work. */
const LISTED = new Uint32List();

/** The rows of a series in a range of times, and others if they do not ascend. */
export function tableRowsOf(
  { table, rows: limit }: TableView,
  { id, ordinal }: { readonly id: SeriesId; readonly ordinal: number },
  timeRange: TimeRange,
): TableRows | undefined {
  LISTED.clear();
  table.listRowsWithin(ordinal, { limit, timeRange }, LISTED);
  if (LISTED.length === 0) return undefined;
  const rows = LISTED.toArray();
  const found = TableRows.of(table, rows, runsOfOne(id, rows.length)).within(timeRange);
  return found.count === 0 ? undefined : found;
}

/** Rows that are read at once, those of one series in any case. */
const PORTION_ROWS = 1 << 13;
/**
 * The cost of a series beside that of its rows, in rows. It makes portions of short series smaller.
 */
const SERIES_COST_ROWS = 4;
/** Series that are visited between two pauses. */
const STEP_SERIES = 1024;

/**
 * The rows of all wanted series, in portions in the order of the series; `undefined` is a pause.
 * `seriesId` tells the series with an ordinal, `undefined` for those that are not wanted.
 */
export function* tableRowsWithin(
  { table, rows: limit }: TableView,
  seriesId: (ordinal: number) => SeriesId | undefined,
  portionMax = PORTION_ROWS,
): Generator<TableRows | undefined> {
  const rowsMax = Math.min(PORTION_ROWS, portionMax);
  const rows = new Uint32List();
  const ids = new Uint32List();
  const ends = new Uint32List();
  const portion = (): TableRows => {
    const runs = { ids: ids.toArray(), ends: ends.toArray() };
    const found = TableRows.of(table, rows.toArray(), runs);
    for (const list of [rows, ids, ends]) list.clear();
    return found;
  };
  let seen = 0;
  for (let at = table.nextOrdinal(0); at < table.ordinalEnd; at = table.nextOrdinal(at + 1)) {
    if (++seen % STEP_SERIES === 0) yield undefined;
    const id = seriesId(at);
    if (id === undefined) continue;
    table.listRows(at, limit, rows);
    if (rows.length === (ends.last ?? 0)) continue;
    ids.push(id);
    ends.push(rows.length);
    if (rows.length + ids.length * SERIES_COST_ROWS >= rowsMax) yield portion();
  }
  if (rows.length > 0) yield portion();
}
