// Which series have rows in a shard: in a segment where no tombstone covers them, or in the
// memtable.
import type { Segment } from '../segment/segment.ts';
import { padIndex } from '../series/index-additions.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { SeriesSet } from '../series/series-set.ts';
import type { DeletedRows } from '../wal/wal-record.ts';
import type { Shard } from './shard.ts';
import { coverage, deletedRanges, withoutRanges } from './tombstone.ts';

type ShardAndIndex = { readonly shard: Shard; readonly index: SeriesIndex };

/**
 * Adds a segment to what its shard and the series index know: types of fields, and series with
 * rows. Call it for the oldest segment first, when the segments and tombstones of the shard are
 * set.
 */
export function registerSegment({ shard, index }: ShardAndIndex, segment: Segment): void {
  for (const measurement of segment.footer.measurements) {
    const { measurementId } = measurement;
    const largest = measurement.series.at(-1) ?? -1;
    padIndex(index, { measurements: measurementId + 1, series: largest + 1 });
    const tombstones = shard.tombstones.filter((t) => t.measurementId === measurementId);
    const isFreed = tombstones.some((t) => t.freesTypes && t.sequence > segment.info.sequence);
    if (!isFreed) {
      for (const field of measurement.fields) {
        shard.fields.set(measurementId, field.name, field.type);
      }
    }
    const isTouched = tombstones.length > 0;
    for (const series of measurement.series) {
      // A rebuilt index does not have the deleted series any more, even if their rows cannot be
      // read.
      if (isTouched && !(index.has(series) && hasRowsInSegments(shard, measurementId, series))) {
        continue;
      }
      if (shard.series.add(series)) index.addedToShard(series);
    }
  }
}

/**
 * The series of a shard that still have rows after a delete. The index is told of those that have
 * none left. `inMemory` returns the series of a measurement with rows in the memtable.
 */
export function dropEmptySeries(
  { shard, index }: ShardAndIndex,
  rows: readonly DeletedRows[],
  inMemory: (measurementId: number) => ReadonlySet<number>,
): SeriesSet {
  const kept = shard.series.clone();
  for (const { measurementId, series } of rows) {
    const measurement = index.measurements[measurementId];
    if (measurement === undefined) continue;
    const held = inMemory(measurementId);
    for (const id of series ?? measurement.seriesIds()) {
      if (held.has(id) || !kept.has(id)) continue;
      if (hasRowsInSegments(shard, measurementId, id)) continue;
      kept.delete(id);
      index.removedFromShard(id);
    }
  }
  return kept;
}

/** Whether a segment of the shard holds rows of the series that no tombstone covers. */
export function hasRowsInSegments(shard: Shard, measurementId: number, series: number): boolean {
  // What a segment holds is unknown when it cannot be opened.
  if (shard.damage !== undefined) return true;
  try {
    return findRowsInSegments(shard, measurementId, series);
  } catch {
    // The block is damaged: the series stays listed, and reading it reports the damage.
    return true;
  }
}

function findRowsInSegments(shard: Shard, measurementId: number, series: number): boolean {
  for (const segment of shard.segments) {
    const measurement = segment.measurement(measurementId);
    if (measurement === undefined) continue;
    const { sequence } = segment.info;
    const deleted = deletedRanges(shard.tombstones, { measurementId, series, sequence });
    const { chunks, shared } = segment.find(measurement, series);
    if (shared !== undefined) {
      const { chunk, from, to } = shared;
      const covered = coverage(deleted, chunk.minTime, chunk.maxTime);
      if (covered === 'none') return true;
      const times = segment.sharedTimes(chunk).subarray(from, to);
      if (withoutRanges({ times, columns: [] }, deleted).times.length > 0) return true;
    }
    for (const chunk of chunks) {
      switch (coverage(deleted, chunk.minTime, chunk.maxTime)) {
        case 'none':
          return true;
        case 'part': {
          const times = segment.times(chunk);
          if (withoutRanges({ times, columns: [] }, deleted).times.length > 0) return true;
          break;
        }
        case 'all':
          break;
      }
    }
  }
  return false;
}
