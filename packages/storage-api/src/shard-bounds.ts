// Where a shard begins and ends. Times are truncated to the duration of the shard group, counted
// from year 1 as InfluxDB does (groups of 168 h start on Mondays), then clipped to the range of
// timestamps and to the neighbouring shards.
import { floorMod, MAX_TIME, MIN_TIME, NANOS_PER_SECOND } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';

/** Half open: `end` is not included. */
export type ShardBounds = { readonly start: Timestamp; readonly end: Timestamp };

/** Nanoseconds between 0001-01-01T00:00:00Z and 1970-01-01T00:00:00Z. */
const YEAR_ONE = 62_135_596_800n * NANOS_PER_SECOND;

/** Bounds of a new shard for `time`, which lies in none of the neighbours. */
export function shardBounds(
  time: Timestamp,
  durationNanos: bigint,
  neighbours: Iterable<ShardBounds>,
): ShardBounds {
  let start = time - floorMod(time + YEAR_ONE, durationNanos);
  let end = start + durationNanos;
  if (start < MIN_TIME) start = MIN_TIME;
  if (end > MAX_TIME) end = MAX_TIME + 1n;
  for (const other of neighbours) {
    if (other.end <= time && other.end > start) start = other.end;
    if (other.start > time && other.start < end) end = other.start;
  }
  return { start, end };
}
