// Which series have rows in a shard: in a segment where no tombstone covers them, or in the
// memtable.
import { assert, AssertionFailed } from '@tidemark/core';

import type { SeriesId } from '../columns/series-id.ts';
import type { Segment } from '../segment/segment.ts';
import { padIndex } from '../series/index-additions.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { DeletedRows } from '../wal/wal-record.ts';
import type { Shard } from '../shard/shard.ts';
import { storedRowsOf } from '../shard/stored-rows.ts';
import { tombstonesOf } from '../shard/tombstone.ts';
import type { ShardStore } from './shard-store.ts';

/** Without an index its series are counted when it is read. */
type ShardAndIndex = { readonly shard: Shard; readonly index: SeriesIndex | undefined };

/**
 * Adds a segment's field types, and its series with rows, to its shard and to the series index.
 * Call it for the oldest segment first, when the segments and tombstones of the shard are set.
 */
export function registerSegment(
  shards: ShardStore,
  { shard, index }: ShardAndIndex,
  segment: Segment,
): void {
  for (const measurement of segment.footer.measurements) {
    const { measurementId } = measurement;
    const largest = measurement.series.at(-1) ?? -1;
    if (index !== undefined) {
      padIndex(index, { measurements: measurementId + 1, series: largest + 1 });
    }
    const tombstones = tombstonesOf(shard.tombstones, measurementId);
    const isFreed = tombstones.some((t) => t.freesTypes && t.sequence > segment.info.sequence);
    if (!isFreed) {
      for (const field of measurement.fields) {
        shards.setField(shard, { measurementId, field: field.name }, field.type);
      }
    }
    const isTouched = tombstones.length > 0;
    assert(!isTouched || index !== undefined, 'the index is read where rows are deleted');
    const hasRows = (series: SeriesId): boolean =>
      index?.has(series) === true && hasRowsInSegments(shard, measurementId, series);
    for (const series of measurement.series) {
      // A rebuilt index does not have the deleted series any more, even if their rows cannot be
      // read.
      if (isTouched && !hasRows(series)) continue;
      shards.addSeries(shard, series, index);
    }
  }
}

/** Series that are visited between two pauses: some milliseconds at worst. */
export const STEP_SERIES = 512;

export type EmptySeriesOptions = {
  readonly shards: ShardStore;
  /** The index now; `undefined` when the shard is gone. */
  readonly index: () => SeriesIndex | undefined;
  readonly isInMemory: (measurementId: number, series: number) => boolean;
};

/**
 * Removes series without rows after a delete from their shard and from the index. Rows may come and
 * go during pauses: series that have been visited are not visited again.
 */
export function* dropEmptySeries(
  shard: Shard,
  rows: readonly DeletedRows[],
  { shards, index, isInMemory }: EmptySeriesOptions,
): Generator<undefined> {
  let empty: SeriesId[] = [];
  const removeEmpty = (): void => {
    const present = index();
    if (present !== undefined && empty.length > 0) shards.removeSeries(shard, empty, present);
    empty = [];
  };
  let left = STEP_SERIES;
  for (const { measurementId, series } of rows) {
    const ids = series ?? index()?.measurements[measurementId]?.seriesIds() ?? [];
    let at = 0;
    while (at < ids.length) {
      if (index() === undefined) return;
      const end = Math.min(ids.length, at + left);
      left -= end - at;
      for (; at < end; at++) {
        const id = ids[at]!;
        if (!shard.series.has(id) || isInMemory(measurementId, id)) continue;
        if (!hasRowsInSegments(shard, measurementId, id)) empty.push(id);
      }
      if (left > 0) break;
      removeEmpty();
      left = STEP_SERIES;
      yield undefined;
    }
  }
  removeEmpty();
  yield undefined;
}

/** Whether a segment of the shard holds rows of the series that no tombstone covers. */
export function hasRowsInSegments(shard: Shard, measurementId: number, series: number): boolean {
  // What a segment holds is unknown when it cannot be opened.
  if (shard.damage !== undefined) return true;
  try {
    return findRowsInSegments(shard, measurementId, series);
  } catch (error) {
    if (error instanceof AssertionFailed) throw error;
    // The block is damaged: the series stays listed, and reading it reports the damage.
    return true;
  }
}

function findRowsInSegments(
  { segments, tombstones }: Shard,
  measurementId: number,
  series: number,
): boolean {
  return segments.some((segment) => {
    const stored = segment.measurement(measurementId);
    if (stored === undefined) return false;
    return storedRowsOf({ segment, stored, tombstones }, series).some((rows) => rows.hasRows());
  });
}
