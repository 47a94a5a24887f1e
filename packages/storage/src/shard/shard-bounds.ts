// Where a shard begins and ends: times are cut to the group's length counting from year 1, as
// existing servers do (168 h groups start on Mondays), clipped to the representable range and to
// the neighbours.
import { floorMod, MAX_TIME, MIN_TIME, NANOS_PER_SECOND } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';

/** Half-open: [start, end). */
export type ShardBounds = { readonly start: Timestamp; readonly end: Timestamp };

/** Nanoseconds between 0001-01-01T00:00:00Z and 1970-01-01T00:00:00Z. */
const YEAR_ONE = 62_135_596_800n * NANOS_PER_SECOND;

/** Bounds of the new shard that holds `time`. `neighbours` do not contain `time`. */
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
