// Where the first rows of a group are, found from what directories tell of its series and from the
// times of a few chunks, before any text is read.
import type { TimeRange } from '@tidemark/core';
import { zeroCounters } from '@tidemark/query';
import type { ScanRequest } from '@tidemark/query';

import { shardOverlaps } from '../columns/overlaps.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { ShardView } from '../state/snapshot.ts';
import type { ReadOptions } from './damaged-data.ts';
import { FirstTimes } from './first-times.ts';
import type { Selection } from './groups.ts';
import { isInSegmentsOnly } from './last-rows.ts';
import { pieceSources } from './pieces.ts';
import type { Piece, PieceSource } from './pieces.ts';
import { overlappingPieces, readSeries } from './series-reader.ts';
import type { SeriesRequest } from './series-reader.ts';

export type FirstRows = {
  readonly series: Uint32Array;
  readonly selection: Selection;
  readonly request: ScanRequest;
  readonly limit: number;
  readonly budget: ReadOptions;
};

export type FirstRange = {
  /** Contains the first rows. */
  readonly range: TimeRange;
  /** Whether a series, given by its position, has no row in it. */
  readonly isOutside: (position: number) => boolean;
};

/** Bytes of a series whose first row is known. */
const HEAD_BYTES = 24;

export function* rangeOfFirst(rows: FirstRows): Generator<undefined, FirstRange> {
  const { series, request, limit, budget } = rows;
  budget.memory.check(series.length * HEAD_BYTES, 'first rows of series');
  const heads = new Heads(rows);
  for (const [position, each] of series.entries()) {
    heads.add(position, each as SeriesId);
    yield undefined;
  }
  const range = heads.rangeOf(limit);
  const first = new FirstTimes(limit, request.descending);
  for (const [position, each] of series.entries()) {
    const timeRange = first.within(range);
    if (heads.isOutside(position, timeRange)) continue;
    addTimes(first, each as SeriesId, { ...rows, timeRange });
    yield undefined;
  }
  const found = first.within(range);
  return { range: found, isOutside: (position) => heads.isOutside(position, found) };
}

/** The time of the first row of each series, in the order of the request. */
class Heads {
  readonly #rows: FirstRows;
  readonly #read: SeriesRequest;
  readonly #shards: readonly {
    readonly view: ShardView;
    readonly sources: readonly PieceSource[];
  }[];
  /** By position; no row of the series comes before it. */
  readonly #times: BigInt64Array;
  /** Those that a row has. */
  readonly #ofRows: BigInt64Array;
  #count = 0;

  constructor(rows: FirstRows) {
    const { selection, request } = rows;
    this.#rows = rows;
    this.#read = chunkRequest(rows, request.timeRange);
    this.#shards = selection.shards
      .filter(({ shard }) => shardOverlaps(shard.descriptor, request.timeRange))
      .map((view) => ({ view, sources: pieceSources(view, this.#read) }));
    this.#times = new BigInt64Array(rows.series.length);
    this.#ofRows = new BigInt64Array(rows.series.length);
  }

  add(position: number, series: SeriesId): void {
    const { request, selection } = this.#rows;
    const { start, end } = request.timeRange;
    const { fields } = this.#read;
    let head = request.descending ? start : end;
    const ordinal = selection.database.index.ordinalOf(series);
    const measurementId = selection.measurement.id;
    for (const { view, sources } of this.#shards) {
      if (!view.series.has(series)) continue;
      if (!isInSegmentsOnly({ view, measurementId, ordinal })) {
        head = request.descending ? end : start;
        break;
      }
      const groups = overlappingPieces(sources, series);
      const pieces = groups.at(request.descending ? -1 : 0);
      if (pieces === undefined) continue;
      const time = headOf(pieces, request.descending);
      head = time < start ? start : time > end ? end : time;
      const [{ chunk } = { chunk: undefined }] = pieces;
      const isOfRow = pieces.length === 1 && chunk?.hasFullColumn(fields, fields.length);
      if (isOfRow === true && head === time) this.#ofRows[this.#count++] = time;
      break;
    }
    this.#times[position] = head;
  }

  /** The part of the time range that has the first rows, as far as one of each series tells. */
  rangeOf(limit: number): TimeRange {
    const { descending, timeRange } = this.#rows.request;
    const times = this.#ofRows.subarray(0, this.#count).sort();
    const first = new FirstTimes(limit, descending);
    first.add(descending ? times.reverse() : times);
    return first.within(timeRange);
  }

  isOutside(position: number, { start, end }: TimeRange): boolean {
    const time = this.#times[position]!;
    return this.#rows.request.descending ? time < start : time > end;
  }
}

function headOf(pieces: readonly Piece[], descending: boolean): bigint {
  let { minTime, maxTime } = pieces[0]!.span;
  for (const { span } of pieces) {
    if (span.minTime < minTime) minTime = span.minTime;
    if (span.maxTime > maxTime) maxTime = span.maxTime;
  }
  return descending ? maxTime : minTime;
}

/** Adds the times of the first rows of a series, which are in chunks. */
function addTimes(
  first: FirstTimes,
  series: SeriesId,
  rows: FirstRows & { readonly timeRange: TimeRange },
): void {
  const { descending, fields } = rows.request;
  let left = rows.limit;
  for (const view of rows.selection.shards) {
    if (left <= 0) break;
    const timeRange = first.within(rows.timeRange);
    if (!view.series.has(series) || !shardOverlaps(view.shard.descriptor, timeRange)) continue;
    const read = chunkRequest(rows, timeRange);
    for (const { chunk } of readSeries(pieceSources(view, read), series, read)) {
      if (chunk === undefined || !chunk.hasFullColumn(fields, fields.length)) continue;
      chunk.narrow(left, descending ? 'last' : 'first');
      const { times } = chunk;
      first.add(descending ? times.toReversed() : times);
      left -= times.length;
      if (left <= 0) break;
    }
  }
}

/** Of chunks only. The reads after this one are counted. */
function chunkRequest(
  { selection, request: { fields, descending }, budget: { memory } }: FirstRows,
  timeRange: TimeRange,
): SeriesRequest {
  const wanted = { selection, fields, presenceOnly: false, timeRange, descending };
  return { ...wanted, counters: zeroCounters(), memory, onlyChunks: true };
}
