// Whether something may have rows within a time range.
import type { TimeRange, Timestamp } from '@tidemark/core';

/** Rows from the first to the last of these times. */
export function overlaps(
  { minTime, maxTime }: { readonly minTime: Timestamp; readonly maxTime: Timestamp },
  { start, end }: TimeRange,
): boolean {
  return minTime <= end && maxTime >= start;
}

/** A shard, which ends before `end`. */
export function shardOverlaps(
  shard: { readonly start: Timestamp; readonly end: Timestamp },
  { start, end }: TimeRange,
): boolean {
  return shard.start <= end && shard.end > start;
}
