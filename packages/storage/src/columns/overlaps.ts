// Whether a time range overlaps that of some rows or of a shard.
import type { TimeRange, Timestamp } from '@tidemark/core';

/** For rows between two times, both inclusive. */
export function overlaps(
  { minTime, maxTime }: { readonly minTime: Timestamp; readonly maxTime: Timestamp },
  { start, end }: TimeRange,
): boolean {
  return minTime <= end && maxTime >= start;
}

/** For a shard, whose `end` is exclusive. */
export function shardOverlaps(
  shard: { readonly start: Timestamp; readonly end: Timestamp },
  { start, end }: TimeRange,
): boolean {
  return shard.start <= end && shard.end > start;
}

/** A condition may ask for times that are after one instant and before an earlier one. */
export function isEmptyRange({ start, end }: TimeRange): boolean {
  return start > end;
}
