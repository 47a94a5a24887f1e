// When a continuous query is due, and which range it then covers.
import { floorMod } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';

export type ContinuousSchedule = {
  /** Of GROUP BY time. */
  readonly intervalNanos: bigint;
  readonly offsetNanos: bigint;
  /** RESAMPLE EVERY; default: the interval. */
  readonly everyNanos?: bigint | undefined;
  /** RESAMPLE FOR; default: the interval, or EVERY where that is longer. */
  readonly forNanos?: bigint | undefined;
};

export type DueRun = {
  /** The boundary that this run is for. */
  readonly boundary: Timestamp;
  /** [start, end) */
  readonly start: Timestamp;
  readonly end: Timestamp;
};

function truncate(time: Timestamp, stepNanos: bigint, offsetNanos: bigint): Timestamp {
  return time - floorMod(time - offsetNanos, stepNanos);
}

/**
 * The run that is due at `now`, if one is. `lastBoundary` is that of the last run; without one, the latest boundary is
 * due at once. Missed boundaries are not caught up one by one: the latest is run.
 */
export function dueRun(
  schedule: ContinuousSchedule,
  now: Timestamp,
  lastBoundary: Timestamp | undefined,
): DueRun | undefined {
  const { intervalNanos, offsetNanos } = schedule;
  const every = schedule.everyNanos ?? intervalNanos;
  const boundary = truncate(now, every, offsetNanos);
  if (lastBoundary !== undefined && boundary <= lastBoundary) return undefined;
  const span = schedule.forNanos ?? (every > intervalNanos ? every : intervalNanos);
  const start = truncate(boundary + intervalNanos - span - 1n, intervalNanos, offsetNanos);
  // A query that runs more often than its windows end computes the current window too.
  const lead = every < intervalNanos ? intervalNanos - every : 0n;
  const end = truncate(now + lead, intervalNanos, offsetNanos);
  return end > start ? { boundary, start, end } : undefined;
}
