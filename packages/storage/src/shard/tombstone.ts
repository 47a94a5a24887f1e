// Tombstones mark rows of segments as deleted. Reads leave those rows out; compaction drops them.
import type { TimeRange } from '@tidemark/core';

import { filterRun, lowerBound } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { firstNotBelow } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';

export type Tombstone = {
  /** The tombstone covers rows in segments with a smaller sequence number. */
  readonly sequence: number;
  readonly measurementId: number;
  /** Ascending; `undefined` means all series of the measurement. */
  readonly series: Uint32Array | undefined;
  readonly timeRange: TimeRange;
  /** Set by DROP MEASUREMENT: types of the measurement's fields before it are forgotten. */
  readonly freesTypes: boolean;
};

/** Ranges in which rows of a series are deleted, in a segment with the given sequence number. */
export function deletedRanges(
  tombstones: readonly Tombstone[],
  row: { readonly measurementId: number; readonly series: SeriesId; readonly sequence: number },
): readonly TimeRange[] {
  if (tombstones.length === 0) return NO_RANGES;
  const ranges: TimeRange[] = [];
  for (const tombstone of tombstones) {
    if (tombstone.measurementId !== row.measurementId) continue;
    if (tombstone.sequence <= row.sequence) continue;
    if (tombstone.series !== undefined && !hasId(tombstone.series, row.series)) continue;
    ranges.push(tombstone.timeRange);
  }
  return ranges;
}

const NO_RANGES: readonly TimeRange[] = [];

function hasId(ids: Uint32Array, id: number): boolean {
  return ids[firstNotBelow(ids, id)] === id;
}

/**
 * A mask with 1 for each row that is not deleted, in a segment with the given sequence number;
 * `undefined` when none is deleted.
 */
export function rowsLeft(
  tombstones: readonly Tombstone[],
  { measurementId, sequence }: { readonly measurementId: number; readonly sequence: number },
  { series, times }: { readonly series: Uint32Array; readonly times: BigInt64Array },
): Uint8Array | undefined {
  let keep: Uint8Array | undefined;
  for (const tombstone of tombstones) {
    if (tombstone.measurementId !== measurementId || tombstone.sequence <= sequence) continue;
    const { start, end } = tombstone.timeRange;
    keep ??= new Uint8Array(series.length).fill(1);
    for (let row = 0; row < series.length; row++) {
      if (tombstone.series !== undefined && !hasId(tombstone.series, series[row]!)) continue;
      const time = times[row]!;
      if (time >= start && time <= end) keep[row] = 0;
    }
  }
  return keep;
}

/** How much of [min, max] is covered by one of the ranges. */
export function coverage(
  ranges: readonly TimeRange[],
  min: bigint,
  max: bigint,
): 'none' | 'part' | 'all' {
  let isTouched = false;
  for (const { start, end } of ranges) {
    if (start <= min && end >= max) return 'all';
    if (start <= max && end >= min) isTouched = true;
  }
  return isTouched ? 'part' : 'none';
}

/** The rows of a run that no range covers. */
export function withoutRanges(run: Run, ranges: readonly TimeRange[]): Run {
  let keep: Uint8Array | undefined;
  for (const { start, end } of ranges) {
    const first = lowerBound(run.times, start);
    const last = lowerBound(run.times, end + 1n, first);
    if (first === last) continue;
    keep ??= new Uint8Array(run.times.length).fill(1);
    keep.fill(0, first, last);
  }
  return keep === undefined ? run : filterRun(run, keep);
}
