// Which series have rows in a shard: those of its segments that no tombstone covers, and those of
// the memtable.
import type { Segment } from '../segment/segment.ts';
import { padIndex } from '../series/index-additions.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { SeriesSet } from '../series/series-set.ts';
import type { DeletedRows } from '../wal/wal-record.ts';
import type { Shard } from './shard.ts';
import { coverage, deletedRanges, withoutRanges } from './tombstone.ts';

type ShardAndIndex = { readonly shard: Shard; readonly index: SeriesIndex };

/**
 * What a segment means for its shard and for the series index: fields with their types, series that
 * are live. The shard's segments and tombstones are set before; oldest segments first.
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
      // A deleted series is not in a rebuilt index any more, whether its rows can be read or not.
      if (isTouched && !(index.has(series) && hasRowsInSegments(shard, measurementId, series))) {
        continue;
      }
      if (shard.series.add(series)) index.addedToShard(series);
    }
  }
}

/**
 * The series that still have rows in the shard after a delete; `inMemory` tells those of the
 * memtable; the index forgets the others. Segments count by their chunks: one that is not covered
 * whole counts as data.
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
  // What is in a segment that can not be opened is not known.
  if (shard.damage !== undefined) return true;
  try {
    return findRowsInSegments(shard, measurementId, series);
  } catch {
    // A block that can not be read proves nothing: the series stays listed, and reading it reports
    // the damage.
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
