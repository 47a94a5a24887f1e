// Ranges that begin before the query's own, because transformations of windows compare the first
// window with the previous one.
import type { TimeRange } from '@tidemark/core';
import { MAX_TIME, MIN_TIME } from '@tidemark/core';

import type { Interval } from '../analyse/dimensions.ts';
import { intersect } from '../analyse/time-range.ts';
import { transformationRow } from '../functions/transformation-table.ts';
import type { AggregateCall } from '../analyse/columns.ts';

type Ranged = {
  readonly range: TimeRange;
  readonly readableRange?: TimeRange | undefined;
  readonly interval: Interval | undefined;
  readonly descending: boolean;
};

/**
 * The range widened by some windows on the side where the query begins, as far as the outermost
 * query reaches.
 */
export function rangeBefore(ranged: Ranged, windows: number): TimeRange {
  const widened = widenedRange(ranged, windows);
  return ranged.readableRange === undefined ? widened : intersect(widened, ranged.readableRange);
}

/** The range widened by some windows on the side where the query begins. */
export function widenedRange({ range, interval, descending }: Ranged, windows: number): TimeRange {
  if (windows === 0 || interval === undefined) return range;
  const extra = BigInt(windows) * interval.everyNanos;
  if (descending) {
    const end = range.end + extra;
    return { start: range.start, end: end > MAX_TIME ? MAX_TIME : end };
  }
  if (range.start === MIN_TIME) return range;
  const start = range.start - extra;
  return { start: start < MIN_TIME ? MIN_TIME : start, end: range.end };
}

/**
 * Windows by which the calls of the outermost query widen what its subqueries may read ahead
 * (recorded).
 */
export function mostShifted(calls: readonly AggregateCall[]): number {
  return calls
    .flatMap((call) => call.transformations)
    .reduce((most, spec) => Math.max(most, transformationRow(spec).windowsShifted(spec)), 0);
}

/** The largest number of windows that a call reads ahead. */
export function mostPrefetched(calls: readonly AggregateCall[]): number {
  return calls.reduce((most, call) => Math.max(most, call.prefetchWindows), 0);
}
