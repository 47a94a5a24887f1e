// How long a batch of rows is tried: a request is answered with 503 and the reason before the
// service would end it with 500, and no earlier than that.
import { Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';

/** A write is refused after this share of the time after which the service ends it. */
const ANSWERED_SHARE = 0.95;

/** Monotonic times. */
export type WriteDeadline = {
  /** No row is sent from then on. */
  readonly untilMs: number;
  /** The requests of the batch are refused then, whatever its statements are doing. */
  readonly refusedMs: number;
};

export type WaitingBatch = {
  /** Monotonic, when the first request of the batch came. */
  readonly sinceMs: number;
  /** Monotonic, when the batch begins: it may have waited for the one before. */
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
  return { untilMs: refusedMs - graceMs, refusedMs };
}

/**
 * The result of some work of a write. Rejects with `Unavailable` when it does not end in time; the
 * work, which goes on, is told by its signal.
 */
export async function refusedAt<T>(
  refusedMs: number,
  clock: Clock,
  work: (late: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const isOver = new AbortController();
  const leftMs = Math.max(0, refusedMs - clock.monotonicMs());
  void clock.sleep(leftMs, isOver.signal).then(
    () => late.abort(new Unavailable('the cluster has not agreed on a write in time')),
    () => undefined, // The work has ended.
  );
  const refused = new Promise<never>((_, reject) =>
    late.signal.addEventListener('abort', () => reject(late.signal.reason as Unavailable)),
  );
  try {
    return await Promise.race([work(late.signal), refused]);
  } finally {
    isOver.abort(new Error('the work has ended'));
  }
}
