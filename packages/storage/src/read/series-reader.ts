// Reads the rows of one series in one shard: its pieces, merged where they overlap in time.
import { rowsBytes, textsBytes } from '@tidemark/core';

import { overlapping } from '../columns/overlaps.ts';
import type { RowPart } from '../segment/large-texts.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { cutTimes } from '../columns/cut-times.ts';
import { rowsAtOnce } from './row-parts.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { convertColumn } from './convert.ts';
import type { WantedField } from './convert.ts';
import type { RequestMemory } from './request-memory.ts';
import type { Piece, PieceRequest, PieceSource } from './pieces.ts';
import { clipRun, mergeRuns } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';

/** Parts that are chunks are not affected by `presenceOnly`. */
export type SeriesRequest = PieceRequest & { readonly memory: RequestMemory };

/** The next part of a series. If it is a chunk, the caller can avoid loading all of it. */
export type SeriesPart = { readonly chunk: ChunkReader | undefined; readonly load: () => Run };

/**
 * Yields the rows of a series in a shard, from its `pieceSources` for the request, as parts that do
 * not overlap, in ascending or descending order of time. Rows ascend within a part.
 */
export function* readSeries(
  sources: readonly PieceSource[],
  series: SeriesId,
  request: SeriesRequest,
): Generator<SeriesPart> {
  const { timeRange, descending } = request;
  const groups = overlappingPieces(sources, series);
  for (const cluster of descending === true ? groups.toReversed() : groups) {
    const [only] = cluster;
    const chunk = cluster.length === 1 ? only?.chunk : undefined;
    const parts = chunk?.parts();
    if (chunk !== undefined && parts !== undefined) {
      yield* partsOf(chunk, parts, request);
      continue;
    }
    if (chunk === undefined && isWide(cluster, request)) {
      yield* wideParts(cluster, request);
      continue;
    }
    const load = (): Run => {
      if (chunk !== undefined) {
        const loaded = chunk.run();
        request.memory.check(rowsBytes(loaded.times, loaded.columns), 'rows of a chunk');
        return convertRun(loaded, request.fields);
      }
      const rows = rowsOf(cluster);
      const runs = loadAll(cluster, (piece) => piece.load(), { request, rows });
      const run = clipRun(mergeRuns(runs), timeRange.start, timeRange.end);
      request.counters.rowsRead += run.times.length;
      return request.presenceOnly ? run : convertRun(run, request.fields);
    };
    yield { chunk, load };
  }
}

/** The pieces of a series, those together that overlap in time; by time. */
export function overlappingPieces(
  sources: readonly PieceSource[],
  series: SeriesId,
): readonly (readonly Piece[])[] {
  const pieces: Piece[] = [];
  for (const source of sources) source.addTo(pieces, series);
  return overlapping(pieces);
}

/** A chunk whose texts are too many to be decoded at once, part by part. */
function* partsOf(
  chunk: ChunkReader,
  parts: readonly RowPart[],
  { fields, descending }: SeriesRequest,
): Generator<SeriesPart> {
  for (const part of descending === true ? parts.toReversed() : parts) {
    yield { chunk: undefined, load: () => convertRun(chunk.part(part), fields) };
  }
}

/** Whether all columns of the rows would fill the memory. */
function isWide(cluster: readonly Piece[], { fields }: SeriesRequest): boolean {
  return rowsOf(cluster) > rowsAtOnce(fields.length);
}

function rowsOf(cluster: readonly Piece[]): number {
  let rows = 0;
  for (const piece of cluster) rows += piece.count;
  return rows;
}

/** The rows of overlapping pieces, in parts of a limited range of times. */
function* wideParts(cluster: readonly Piece[], request: SeriesRequest): Generator<SeriesPart> {
  const ranges = cutTimes(
    cluster.map((piece) => piece.allTimes),
    request.timeRange,
    rowsAtOnce(request.fields.length),
  );
  for (const { rows, ...range } of request.descending === true ? ranges.toReversed() : ranges) {
    const load = (): Run => {
      const runs = loadAll(cluster, (piece) => piece.within(range), { request, rows });
      const run = mergeRuns(runs);
      request.counters.rowsRead += run.times.length;
      return request.presenceOnly ? run : convertRun(run, request.fields);
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
  cluster: readonly Piece[],
  load: (piece: Piece) => Run,
  { request, rows }: { readonly request: SeriesRequest; readonly rows: number },
): Run[] {
  const { memory, fields } = request;
  const what = 'rows of a series that overlap';
  const rowBytes = 8 + 9 * fields.length;
  let bytes = rows * rowBytes * MERGE_COPIES;
  memory.check(bytes, what);
  return cluster.map((piece) => {
    const run = load(piece);
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
