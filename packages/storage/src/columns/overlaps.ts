// Whether time ranges overlap: those of requests, of some rows, of a shard.
import { MIN_INT64 } from '@tidemark/core';
import type { TimeRange, Timestamp } from '@tidemark/core';

/** The first and the last time of some rows. */
export type TimeSpan = { readonly minTime: Timestamp; readonly maxTime: Timestamp };

/** For rows between two times, both inclusive. */
export function overlaps({ minTime, maxTime }: TimeSpan, { start, end }: TimeRange): boolean {
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

/**
 * Groups items so that the times of different groups do not overlap. Groups ascend in time; the
 * items of each keep their order.
 */
export function overlapping<Item extends { readonly span: TimeSpan }>(
  items: readonly Item[],
): readonly (readonly Item[])[] {
  if (items.length <= 1) return items.length === 0 ? [] : [items];
  const places = items.map((_, place) => place);
  places.sort((a, b) => {
    const first = items[a]!.span.minTime;
    const second = items[b]!.span.minTime;
    return first < second ? -1 : first > second ? 1 : 0;
  });
  const groups: number[][] = [];
  let end = MIN_INT64;
  for (const place of places) {
    const { minTime, maxTime } = items[place]!.span;
    const last = groups.at(-1);
    if (last === undefined || minTime > end) groups.push([place]);
    else last.push(place);
    if (maxTime > end) end = maxTime;
  }
  return groups.map((group) => group.sort((a, b) => a - b).map((place) => items[place]!));
}
