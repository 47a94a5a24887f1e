// The deadline of a batch of rows: a request is refused with 503 and the reason shortly before the
// service would answer 500.
import { Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';

/** A write is refused after this share of `coordinator.write-timeout`. */
const ANSWERED_SHARE = 0.95;

/** Monotonic times. */
export type WriteDeadline = {
  /** No rows are sent after this time. */
  readonly untilMs: number;
  /** The requests of the batch are refused at this time, even if statements are still running. */
  readonly refusedMs: number;
};

export type WaitingBatch = {
  /** Monotonic; when the first request of the batch arrived. */
  readonly sinceMs: number;
  /** Monotonic; when the batch begins, after it may have waited for the previous one. */
  readonly nowMs: number;
  /** `coordinator.write-timeout`; 0 is never. */
  readonly timeoutMs: number;
};

export function writeDeadline({ sinceMs, nowMs, timeoutMs }: WaitingBatch): WriteDeadline {
  const graceMs = LIMITS.graceMs.value;
  if (timeoutMs === 0) {
    const untilMs = Math.max(sinceMs + LIMITS.insertMs.value, nowMs + LIMITS.lastTryMs.value);
    return { untilMs, refusedMs: untilMs + graceMs };
  }
  const refusedMs = sinceMs + timeoutMs * ANSWERED_SHARE;
  return { untilMs: refusedMs - Math.min(graceMs, (refusedMs - sinceMs) / 2), refusedMs };
}

/**
 * Returns the result of some work. Rejects with `Unavailable` if it does not end in time; it goes
 * on then.
 */
export async function refusedAt<T>(refusedMs: number, clock: Clock, work: Promise<T>): Promise<T> {
  const isOver = new AbortController();
  const leftMs = Math.max(0, refusedMs - clock.monotonicMs());
  const late = clock.sleep(leftMs, isOver.signal).then(
    () => Promise.reject(new Unavailable('the cluster has not agreed on a write in time')),
    () => work, // The work has ended.
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    isOver.abort(new Error('the work has ended'));
  }
}
