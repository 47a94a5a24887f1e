// Rows of one series in one shard: pieces from memtable and segments, merged where they overlap.
import type { FieldType, TimeRange } from '@tidemark/core';

import type { Database } from '../engine/database.ts';
import type { ShardView, TableView } from '../engine/snapshot.ts';
import { rowsOfSeries } from '../memtable/table-order.ts';
import type { SeriesId } from '../series/series-index.ts';
import { convertColumn } from './convert.ts';
import { clipRun, columnOf, mergeRuns, takeRows } from './run.ts';
import type { Run } from './run.ts';

/** A field to read; without a type in the one it has. */
export type WantedField = { readonly name: string; readonly type?: FieldType | undefined };

export type SeriesRequest = {
  readonly database: Database;
  readonly series: SeriesId;
  readonly fields: readonly WantedField[];
  readonly timeRange: TimeRange;
};

/** Rows of a series that one source holds. Pieces of a series come oldest write first. */
export type Piece = {
  readonly minTime: bigint;
  readonly maxTime: bigint;
  /** Strictly ascending, clipped to the request's time range, fields in their stored type. */
  readonly load: () => Run;
};

/** Runs of a series in a shard, ascending and not overlapping, in the wanted types. */
export function* readSeries(view: ShardView, request: SeriesRequest): Generator<Run> {
  const { start, end } = request.timeRange;
  const pieces = piecesOf(view, request);
  for (const cluster of clusters(pieces)) {
    const runs = cluster.map((piece) => piece.load());
    const run = clipRun(mergeRuns(runs), start, end);
    if (run.times.length > 0) yield convertRun(run, request.fields);
  }
}

function convertRun(run: Run, fields: readonly WantedField[]): Run {
  return {
    times: run.times,
    columns: run.columns.map((column, i) => {
      const type = fields[i]?.type;
      return column === undefined || type === undefined ? column : convertColumn(column, type);
    }),
  };
}

/** Groups of pieces that overlap in time, ascending; pieces keep their write order within a group. */
function clusters(pieces: readonly Piece[]): Piece[][] {
  if (pieces.length <= 1) return pieces.map((piece) => [piece]);
  const byTime = pieces.map((piece, order) => ({ piece, order }));
  byTime.sort((a, b) =>
    a.piece.minTime < b.piece.minTime ? -1 : a.piece.minTime > b.piece.minTime ? 1 : 0,
  );
  const result: Piece[][] = [];
  let cluster: typeof byTime = [];
  let end = 0n;
  const close = (): void => {
    cluster.sort((a, b) => a.order - b.order);
    if (cluster.length > 0) result.push(cluster.map(({ piece }) => piece));
  };
  for (const entry of byTime) {
    if (cluster.length > 0 && entry.piece.minTime <= end) cluster.push(entry);
    else {
      close();
      cluster = [entry];
      end = entry.piece.maxTime;
    }
    if (entry.piece.maxTime > end) end = entry.piece.maxTime;
  }
  close();
  return result;
}

function piecesOf(view: ShardView, request: SeriesRequest): Piece[] {
  const { index } = request.database;
  const measurement = index.measurementOf(request.series);
  const pieces: Piece[] = [];
  for (const table of view.tables.get(measurement.id) ?? []) {
    const piece = memtablePiece(table, request);
    if (piece !== undefined) pieces.push(piece);
  }
  return pieces;
}

function memtablePiece(view: TableView, request: SeriesRequest): Piece | undefined {
  const { index } = request.database;
  const { table } = view;
  const rows = rowsOfSeries(table, index.ordinalOf(request.series), {
    limit: view.rows,
    ordinalOf: (series) => index.ordinalOf(series),
  });
  if (rows.length === 0) return undefined;
  let minTime = table.times[rows[0]!]!;
  let maxTime = minTime;
  for (let i = 1; i < rows.length; i++) {
    const time = table.times[rows[i]!]!;
    if (time < minTime) minTime = time;
    if (time > maxTime) maxTime = time;
  }
  const { start, end } = request.timeRange;
  if (maxTime < start || minTime > end) return undefined;
  const load = (): Run => {
    const columns = request.fields.map(({ name }) => {
      const column = table.columns[table.columnIndex(name)];
      if (column === undefined) return undefined;
      const { values, valid, pool } = column;
      return columnOf(column.type, { values, valid, dictionary: pool?.texts.slice() });
    });
    return mergeRuns([takeRows({ times: table.times, columns }, rows)]);
  };
  return { minTime, maxTime, load };
}
