// The unit in which a shard's segments are read: the rows that neighbouring series have in one
// chunk, without those that tombstones cover. Answers, merges and the look for empty series all
// read these.
import type { Column } from '@tidemark/core';

import type { TimeSpan } from '../columns/overlaps.ts';
import { filterRun } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { filterSeriesRows, seriesOfRows } from '../columns/series-rows.ts';
import type { SeriesRows } from '../columns/series-rows.ts';
import type { ChunkMeta, ColumnMeta, SegmentMeasurement } from '../segment/format.ts';
import type { ReadAhead } from '../segment/segment-blocks.ts';
import type { ChunkRows, Segment } from '../segment/segment.ts';
import type { SeriesRange } from '../segment/series-ranges.ts';
import type { DeletedRanges } from './deleted-ranges.ts';
import { deletedIn } from './tombstone.ts';
import type { Tombstone } from './tombstone.ts';

/** A measurement in a segment of a shard with these tombstones. */
export type StoredPlace = {
  readonly segment: Segment;
  readonly stored: SegmentMeasurement;
  readonly tombstones: readonly Tombstone[];
};

export class StoredRows {
  readonly segment: Segment;
  readonly stored: SegmentMeasurement;
  readonly #rows: ChunkRows;
  readonly #deleted: DeletedRanges | undefined;
  /** Where the chunk has rows of other series, too. */
  #times: BigInt64Array | undefined;
  /**
   * How many of the rows tombstones cover; for several series, `part` may also mean none or all.
   */
  readonly covered: 'none' | 'part' | 'all';

  constructor(
    { segment, stored }: Pick<StoredPlace, 'segment' | 'stored'>,
    rows: ChunkRows,
    deleted: DeletedRanges | undefined,
  ) {
    this.segment = segment;
    this.stored = stored;
    this.#rows = rows;
    this.#deleted = deleted;
    const { chunk, ids } = rows;
    const ofChunk = deleted?.coverage(ids, chunk) ?? 'none';
    const isKnown = ofChunk !== 'part' || !this.isPart;
    this.covered = isKnown ? ofChunk : (deleted?.coverage(ids, this.span()) ?? 'none');
  }

  get chunk(): ChunkMeta {
    return this.#rows.chunk;
  }

  /** The first row in the chunk, and the one behind the last. */
  get from(): number {
    return this.#rows.from;
  }

  get to(): number {
    return this.#rows.to;
  }

  /** Ascending. */
  get ids(): ChunkRows['ids'] {
    return this.#rows.ids;
  }

  /** Number of the rows, those included that tombstones cover. */
  get count(): number {
    return this.to - this.from;
  }

  /** Whether the chunk has rows of other series, too. */
  get isPart(): boolean {
    return this.count < this.chunk.rows;
  }

  /** Whether these are all rows of the chunk, of one series, and none is deleted. */
  get isWholeChunk(): boolean {
    return this.ids.length === 1 && !this.isPart && this.covered === 'none';
  }

  /** The first and the last time. Reads times where rows of other series have some in the chunk. */
  span(): TimeSpan {
    if (!this.isPart) return this.chunk;
    const times = this.times();
    let [minTime, maxTime] = [times[0]!, times.at(-1)!];
    if (this.ids.length > 1) {
      for (const time of times) {
        if (time < minTime) minTime = time;
        if (time > maxTime) maxTime = time;
      }
    }
    return { minTime, maxTime };
  }

  /** Times of all the rows. `bytes` contain the chunk, if it has been read. */
  times(bytes?: ReadAhead): BigInt64Array {
    const { segment, chunk } = this;
    if (!this.isPart) return segment.times(chunk, bytes);
    this.#times ??= segment.sharedTimes(this.#rows);
    return this.#times;
  }

  /** A column of all the rows, in the stored type. */
  column(meta: ColumnMeta, bytes?: ReadAhead): Column {
    const { segment, stored, chunk } = this;
    if (!this.isPart) return segment.column(stored, chunk, meta, bytes);
    return segment.sharedColumn(stored, this.#rows, meta);
  }

  /**
   * Columns of all the rows, or of some of them where they are of one series, without the deleted.
   */
  left(run: Run): Run {
    if (this.covered === 'none') return run;
    const keep = this.#deleted?.rowsLeft(this.#runs(run), run.times);
    return keep === undefined ? run : filterRun(run, keep);
  }

  /** As `left`, with the series of each row. */
  leftOfSeries(run: Run): SeriesRows {
    const { ids, ends } = this.#runs(run);
    const rows = { ...run, series: seriesOfRows(ids, ends) };
    if (this.covered === 'none') return rows;
    const keep = this.#deleted?.rowsLeft({ ids, ends }, run.times);
    return keep === undefined ? rows : filterSeriesRows(rows, keep);
  }

  /** Whether any row is left. */
  hasRows(): boolean {
    if (this.covered !== 'part') return this.covered === 'none';
    const times = this.times();
    if (this.ids.length === 1) return this.#deleted?.hasRowLeft(this.ids[0]!, times) ?? true;
    return this.left({ times, columns: [] }).times.length > 0;
  }

  #runs({ times }: Run): Pick<ChunkRows, 'ids' | 'ends'> {
    const { ids, ends } = this.#rows;
    return ids.length === 1 ? { ids, ends: [times.length] } : { ids, ends };
  }
}

/**
 * The rows of a series, where any may be left: in chunks of its own, which ascend and do not
 * overlap, or in a shared one.
 */
export function storedRowsOf(place: StoredPlace, series: SeriesId): readonly StoredRows[] {
  const found = place.segment.rowsOf(place.stored, series);
  if (found.length === 0) return NONE;
  const deleted = deletedOf(place);
  const all = found.map((rows) => new StoredRows(place, rows, deleted));
  return deleted === undefined ? all : all.filter(({ covered }) => covered !== 'all');
}

/** The rows of all series in a range, in the order of the series, where any may be left. */
export function* storedRowsWithin(place: StoredPlace, range: SeriesRange): Generator<StoredRows> {
  const deleted = deletedOf(place);
  for (const found of place.segment.rowsWithin(place.stored, range)) {
    const rows = new StoredRows(place, found, deleted);
    if (rows.covered !== 'all') yield rows;
  }
}

function deletedOf({ segment, stored, tombstones }: StoredPlace): DeletedRanges | undefined {
  const { measurementId } = stored;
  return deletedIn(tombstones, { measurementId, sequence: segment.info.sequence });
}

const NONE: readonly StoredRows[] = [];
