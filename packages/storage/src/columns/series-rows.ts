// Rows of many series in one set of columns, ordered by series and then by time. Short series are
// stored, merged and read in this form: for a series of three rows, columns of its own would cost
// ten times as much as their contents.
import { assert } from '@tidemark/core';

import type { SeriesId } from './series-id.ts';
import { firstBeyond } from './search.ts';
import { concatRuns, mergeRows, sliceRun, takeRows } from './run.ts';
import type { Run } from './run.ts';
import { RowKeys } from './row-order.ts';

/** Strictly ascending by series and time. */
export type SeriesRows = Run & {
  /** The series of each row. */
  readonly series: Uint32Array;
};

/**
 * Merges rows of several sources, those written first first. Where rows have equal series and time,
 * each field takes the value of the last source that has one. Rows within one source may be
 * unordered and have duplicates too; later ones count as written later.
 */
export function mergeSeriesRows(sources: readonly SeriesRows[]): SeriesRows {
  const [first] = sources;
  assert(first !== undefined, 'something to merge');
  if (sources.length === 1 && ascends(new RowKeys(first.times, first.series))) return first;
  const all = concatSeriesRows(sources);
  const { run, rows } = mergeRows(all, new RowKeys(all.times, all.series));
  return { ...run, series: rows.map((row) => all.series[row]!) };
}

/** Rows of all sources one after another. */
export function concatSeriesRows(sources: readonly SeriesRows[]): SeriesRows {
  const [first] = sources;
  if (sources.length === 1 && first !== undefined) return first;
  const run = concatRuns(sources);
  const series = new Uint32Array(run.times.length);
  let at = 0;
  for (const source of sources) {
    series.set(source.series, at);
    at += source.series.length;
  }
  return { ...run, series };
}

function ascends(keys: RowKeys): boolean {
  for (let i = 1; i < keys.length; i++) if (!keys.isBefore(i - 1, i)) return false;
  return true;
}

/** Rows [start, end). Views of the same arrays. */
export function sliceSeriesRows(rows: SeriesRows, start: number, end: number): SeriesRows {
  if (start === 0 && end === rows.series.length) return rows;
  return { ...sliceRun(rows, start, end), series: rows.series.subarray(start, end) };
}

/** Rows whose byte in `keep` is 1. */
export function filterSeriesRows(rows: SeriesRows, keep: Uint8Array): SeriesRows {
  const kept = new Uint32Array(keep.length);
  let count = 0;
  for (let i = 0; i < keep.length; i++) if (keep[i] === 1) kept[count++] = i;
  if (count === keep.length) return rows;
  const taken = kept.subarray(0, count);
  return { ...takeRows(rows, taken), series: taken.map((row) => rows.series[row]!) };
}

/** First row of a series above `series`. */
export function rowBehind({ series }: SeriesRows, id: SeriesId): number {
  return firstBeyond(series.length, (row) => series[row]! > id);
}

/** The series of each row, where the rows of each series end at `ends`. */
export function seriesOfRows(
  series: ArrayLike<SeriesId>,
  ends: Uint32Array | readonly number[],
): Uint32Array {
  const rows = new Uint32Array(ends.at(-1) ?? 0);
  let start = 0;
  for (let i = 0; i < ends.length; i++) {
    const end = ends[i]!;
    const id = series[i]!;
    if (end - start >= FILL_ROWS) rows.fill(id, start, end);
    else for (let row = start; row < end; row++) rows[row] = id;
    start = end;
  }
  return rows;
}

/** For fewer rows, the call of `fill` costs more than a loop. */
const FILL_ROWS = 16;

/** The distinct series of ordered rows, and the end of each one's rows. */
export type SeriesRuns = { readonly ids: Uint32Array; readonly ends: Uint32Array };

export function runsBySeries(series: Uint32Array): SeriesRuns {
  const ids = new Uint32Array(series.length);
  const ends = new Uint32Array(series.length);
  let count = 0;
  for (let row = 0; row < series.length; row++) {
    if (row > 0 && series[row] === series[row - 1]) ends[count - 1] = row + 1;
    else {
      ids[count] = series[row]!;
      ends[count++] = row + 1;
    }
  }
  return { ids: ids.slice(0, count), ends: ends.slice(0, count) };
}
