// Waiting for work with a time limit, or until something else happens.
import type { Clock } from './clock.ts';

/** What `within` resolves with when the time is up. */
export const LATE: unique symbol = Symbol('late');

/**
 * Resolves or rejects as `work` does; resolves with `LATE` when it takes longer than `timeoutMs`.
 * The work itself is not cancelled.
 */
export async function within<T>(
  clock: Clock,
  timeoutMs: number,
  work: Promise<T>,
): Promise<T | typeof LATE> {
  const done = new AbortController();
  const late = clock.sleep(timeoutMs, done.signal).then(
    (): typeof LATE => LATE,
    // Cancelled because the work was done in time: the race is over, so the value is not used.
    (): typeof LATE => LATE,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}

/**
 * Resolves or rejects as `work` does; resolves with `undefined` as soon as the signal is aborted. A
 * signal may live long: unlike a promise in a race it keeps nothing of those who waited.
 */
export async function untilAborted<T>(
  work: Promise<T> | undefined,
  signal: AbortSignal,
): Promise<T | undefined> {
  let stop = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
