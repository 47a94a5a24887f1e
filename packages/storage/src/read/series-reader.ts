// Reads the rows of one series in one shard: pieces from the memtable and from segments, merged
// where they overlap in time.
import { rowsBytes, textsBytes } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import type { SourceCounters } from '@tidemark/query';

import type { DatabaseView, ShardView, TableView } from '../state/snapshot.ts';
import { overlapping, overlaps } from '../columns/overlaps.ts';
import { Uint32List } from '../columns/uint32-list.ts';
import { columnsAt, placesOfFields } from '../segment/field-places.ts';
import type { SegmentMeasurement } from '../segment/format.ts';
import type { RowPart } from '../segment/large-texts.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { storedRowsOf } from '../shard/stored-rows.ts';
import type { StoredPlace } from '../shard/stored-rows.ts';
import { cutTimes } from '../columns/cut-times.ts';
import { ChunkReader, rowsAtOnce } from './chunk-reader.ts';
import { convertColumn } from './convert.ts';
import type { WantedField } from './convert.ts';
import type { RequestMemory } from './request-memory.ts';
import { columnsOfTable } from './wanted-columns.ts';
import type { Wanted } from './wanted-columns.ts';
import { clipRun, isStrictlyAscending, lowerBound, mergeRuns } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';

export type SeriesRequest = {
  readonly database: DatabaseView;
  readonly series: SeriesId;
  readonly fields: readonly WantedField[];
  readonly timeRange: TimeRange;
  readonly counters: SourceCounters;
  readonly memory: RequestMemory;
  /**
   * Columns only tell which rows have a value (`presence.ts`). Parts that are chunks are not
   * affected.
   */
  readonly presenceOnly?: boolean | undefined;
  /** The caller takes one column of a chunk after another, and only few of them at once. */
  readonly columnwise?: boolean | undefined;
  /** Rows in memory are left out: the caller reads only chunks. */
  readonly onlyChunks?: boolean | undefined;
};

/**
 * Rows of a series from one source. Pieces are ordered by the time of their writes, oldest first.
 */
type Piece = {
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly rows: number;
  /**
   * Times ascend strictly, fields have the stored type. There may be rows outside the time range.
   */
  readonly load: () => Run;
  /** Rows within a range, arrays of their own. */
  readonly loadWithin: (range: TimeRange) => Run;
  /** Times of all rows, those of a memtable in the order of arrival. */
  readonly times: () => BigInt64Array;
  /** Set when the piece is a chunk without deleted rows. */
  readonly chunk?: ChunkReader | undefined;
};

/** The next part of a series. If it is a chunk, the caller can avoid loading all of it. */
export type SeriesPart = { readonly chunk: ChunkReader | undefined; readonly load: () => Run };

/**
 * Yields the rows of a series in a shard as parts that do not overlap, in ascending or descending
 * order of time. Rows ascend within a part.
 */
export function* readSeries(
  view: ShardView,
  request: SeriesRequest,
  order: { readonly descending: boolean },
): Generator<SeriesPart> {
  const { start, end } = request.timeRange;
  const groups = overlapping(piecesOf(view, { ...request, descending: order.descending }));
  for (const cluster of order.descending ? groups.toReversed() : groups) {
    const [only] = cluster;
    const chunk = cluster.length === 1 ? only?.chunk : undefined;
    const parts = chunk?.parts();
    if (chunk !== undefined && parts !== undefined) {
      yield* partsOf(chunk, parts, request.fields, order);
      continue;
    }
    if (chunk === undefined && isWide(cluster, request)) {
      yield* wideParts(cluster, request, order);
      continue;
    }
    const load = (): Run => {
      if (chunk !== undefined) {
        const loaded = chunk.run();
        request.memory.check(rowsBytes(loaded.times, loaded.columns), 'rows of a chunk');
        return convertRun(loaded, request.fields);
      }
      const rows = rowsOf(cluster);
      const loads = cluster.map((piece) => piece.load);
      const runs = loadAll(loads, rows, request);
      const run = clipRun(mergeRuns(runs), start, end);
      request.counters.rowsRead += run.times.length;
      return request.presenceOnly === true ? run : convertRun(run, request.fields);
    };
    yield { chunk, load };
  }
}

/** A chunk whose texts are too many to be decoded at once, part by part. */
function* partsOf(
  chunk: ChunkReader,
  parts: readonly RowPart[],
  fields: readonly WantedField[],
  { descending }: { readonly descending: boolean },
): Generator<SeriesPart> {
  for (const part of descending ? parts.toReversed() : parts) {
    yield { chunk: undefined, load: () => convertRun(chunk.part(part), fields) };
  }
}

/** Whether all columns of the rows would fill the memory. */
function isWide(cluster: readonly Piece[], { fields }: SeriesRequest): boolean {
  return rowsOf(cluster) > rowsAtOnce(fields.length);
}

function rowsOf(cluster: readonly Piece[]): number {
  let rows = 0;
  for (const piece of cluster) rows += piece.rows;
  return rows;
}

/** The rows of overlapping pieces, in parts of a limited range of times. */
function* wideParts(
  cluster: readonly Piece[],
  request: SeriesRequest,
  { descending }: { readonly descending: boolean },
): Generator<SeriesPart> {
  const ranges = cutTimes(
    cluster.map((piece) => piece.times()),
    request.timeRange,
    rowsAtOnce(request.fields.length),
  );
  for (const { rows, ...range } of descending ? ranges.toReversed() : ranges) {
    const load = (): Run => {
      const loads = cluster.map(
        ({ loadWithin }) =>
          () =>
            loadWithin(range),
      );
      const run = mergeRuns(loadAll(loads, rows, request));
      request.counters.rowsRead += run.times.length;
      return request.presenceOnly === true ? run : convertRun(run, request.fields);
    };
    yield { chunk: undefined, load };
  }
}

/** Copies of each row during a merge: as read, joined, and sorted. */
const MERGE_COPIES = 3;

/**
 * Loads pieces that overlap, all at once. Their rows are counted as memory before they are loaded,
 * their texts piece by piece.
 */
function loadAll(
  loads: readonly (() => Run)[],
  rows: number,
  { memory, fields }: SeriesRequest,
): Run[] {
  const what = 'rows of a series that overlap';
  const rowBytes = 8 + 9 * fields.length;
  let bytes = rows * rowBytes * MERGE_COPIES;
  memory.check(bytes, what);
  return loads.map((load) => {
    const run = load();
    for (const column of run.columns) {
      if (column?.type === 'string') bytes += textsBytes(column.texts);
    }
    memory.check(bytes, what);
    return run;
  });
}

/** Converts columns to the types of the fields; to nulls where types do not convert. */
export function convertRun(run: Run, fields: readonly WantedField[]): Run {
  return {
    times: run.times,
    columns: run.columns.map((column, i) => {
      const type = fields[i]?.type;
      return column === undefined || type === undefined ? column : convertColumn(column, type);
    }),
  };
}

/** A request, and which rows its reader begins with. */
type OrderedRequest = SeriesRequest & { readonly descending: boolean };

function piecesOf(view: ShardView, request: OrderedRequest): Piece[] {
  const { index } = request.database;
  const measurement = index.measurementOf(request.series);
  const { fields, timeRange, presenceOnly = false } = request;
  const asked = { ...request, wanted: { fields, presenceOnly } };
  const pieces: Piece[] = [];
  for (const segment of view.segments) {
    const stored = segment.measurement(measurement.id);
    if (stored === undefined || !overlaps(segment.footer, timeRange)) continue;
    segmentPieces(pieces, { segment, stored, tombstones: view.tombstones }, asked);
  }
  if (request.onlyChunks === true) return pieces;
  for (const table of view.tables.get(measurement.id) ?? []) {
    const piece = memtablePiece(table, asked);
    if (piece !== undefined) pieces.push(piece);
  }
  return pieces;
}

function segmentPieces(
  pieces: Piece[],
  place: StoredPlace,
  request: OrderedRequest & { readonly wanted: Wanted },
): void {
  const { series, counters, wanted, timeRange, columnwise, descending } = request;
  const rowsOf = storedRowsOf(place, series);
  if (rowsOf.length === 0) return;
  const places = fieldPlaces(place.stored, wanted.fields);
  for (const rows of rowsOf) {
    if (!overlaps(rows.chunk, timeRange)) {
      counters.chunksSkipped++;
      continue;
    }
    const columns = columnsAt(rows.chunk, places);
    const chunk = new ChunkReader({
      ...wanted,
      rows,
      columns,
      timeRange,
      counters,
      columnwise,
      descending,
    });
    const { minTime, maxTime } = chunk.span;
    if (rows.isPart && !overlaps({ minTime, maxTime }, timeRange)) continue;
    pieces.push({
      minTime,
      maxTime,
      rows: rows.count,
      load: () => chunk.load(),
      loadWithin: (range) => chunk.within(range),
      times: () => chunk.allTimes,
      chunk: rows.covered === 'none' ? chunk : undefined,
    });
  }
}

const placesOf = new WeakMap<readonly WantedField[], Map<SegmentMeasurement, Int32Array>>();

/**
 * Index in the segment of each wanted field, -1 if missing. Computed once per request and segment.
 */
function fieldPlaces(stored: SegmentMeasurement, wanted: readonly WantedField[]): Int32Array {
  let bySegment = placesOf.get(wanted);
  if (bySegment === undefined) {
    bySegment = new Map();
    placesOf.set(wanted, bySegment);
  }
  let places = bySegment.get(stored);
  if (places === undefined) bySegment.set(stored, (places = placesOfFields(stored, wanted)));
  return places;
}

/** Reused by every call: with many series, a new list for each would be most of the work. */
const LISTED = new Uint32List();

function memtablePiece(
  view: TableView,
  request: SeriesRequest & { readonly wanted: Wanted },
): Piece | undefined {
  const { table } = view;
  LISTED.clear();
  const { database, series, timeRange, wanted } = request;
  const ordinal = database.index.ordinalOf(series);
  table.listRowsWithin(ordinal, { limit: view.rows, timeRange }, LISTED);
  if (LISTED.length === 0) return undefined;
  const { start, end } = timeRange;
  let rows = LISTED.toArray();
  let times = table.pick(rows).times();
  const isOrdered = isStrictlyAscending(times);
  if (isOrdered) {
    const first = lowerBound(times, start);
    const behind = lowerBound(times, end + 1n, first);
    rows = rows.subarray(first, behind);
    times = times.subarray(first, behind);
  }
  const { min, max } = boundsOf(times, isOrdered);
  const bounds = { minTime: min, maxTime: max };
  if (rows.length === 0 || !overlaps(bounds, { start, end })) return undefined;
  const loadRows = (some: Uint32Array, at: BigInt64Array): Run => {
    // Copies the rows, because the table may change before they are used.
    const columns = columnsOfTable(table, table.pick(some), wanted);
    return isOrdered ? { times: at, columns } : mergeRuns([{ times: at, columns }]);
  };
  const load = (): Run => loadRows(rows, times);
  const loadWithin = (range: TimeRange): Run => {
    const isWithin = (time: bigint): boolean => time >= range.start && time <= range.end;
    return loadRows(
      rows.filter((_, i) => isWithin(times[i]!)),
      times.filter(isWithin),
    );
  };
  const { length } = rows;
  return { minTime: min, maxTime: max, rows: length, load, loadWithin, times: () => times };
}

function boundsOf(times: BigInt64Array, isOrdered: boolean): { min: bigint; max: bigint } {
  let min = times[0] ?? 0n;
  let max = times.at(-1) ?? 0n;
  if (isOrdered) return { min, max };
  for (const time of times) {
    if (time < min) min = time;
    if (time > max) max = time;
  }
  return { min, max };
}
