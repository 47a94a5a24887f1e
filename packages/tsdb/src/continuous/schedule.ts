// The time when a continuous query is due, and the range that it covers then.
import type { Timestamp } from '@tidemark/core';
import { localToInstant, Windows } from '@tidemark/query';
import type { Zone } from '@tidemark/query';

import type { ContinuousInterval } from './statement.ts';

export type ContinuousSchedule = ContinuousInterval & {
  /** RESAMPLE EVERY; default: the interval. */
  readonly everyNanos?: bigint | undefined;
  /** RESAMPLE FOR; default: the interval, or EVERY if that is longer. */
  readonly forNanos?: bigint | undefined;
};

export type DueRun = {
  /** The boundary that this run is for. */
  readonly boundary: Timestamp;
  /** [start, end) */
  readonly start: Timestamp;
  readonly end: Timestamp;
};

/** The time at which a clock showed a time earlier by `nanos`. */
function earlier(time: Timestamp, nanos: bigint, zone: Zone | undefined): Timestamp {
  if (zone === undefined || nanos === 0n) return time - nanos;
  return localToInstant(time + zone.offsetNanos(time) - nanos, zone);
}

/**
 * The run that is due at `now`, if there is one. `lastBoundary` is that of the last run; without
 * one, the latest boundary is due at once. Missed boundaries are not caught up one by one: the
 * latest is run.
 */
export function dueRun(
  schedule: ContinuousSchedule,
  now: Timestamp,
  lastBoundary: Timestamp | undefined,
): DueRun | undefined {
  const { intervalNanos, offsetNanos, zone } = schedule;
  const every = schedule.everyNanos ?? intervalNanos;
  const windows = new Windows({ everyNanos: intervalNanos, offsetNanos }, zone);
  const boundary = new Windows({ everyNanos: every, offsetNanos }, zone).of(now).start;
  if (lastBoundary !== undefined && boundary <= lastBoundary) return undefined;
  const span = schedule.forNanos ?? (every > intervalNanos ? every : intervalNanos);
  const start = windows.of(earlier(boundary - 1n, span - intervalNanos, zone)).start;
  // A query that runs more often than its windows end computes the current window too.
  const lead = every < intervalNanos ? intervalNanos - every : 0n;
  const end = windows.of(now + lead).start;
  return end > start ? { boundary, start, end } : undefined;
}
