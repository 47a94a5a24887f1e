// Work that may take only so long.
import type { Clock } from './clock.ts';

/** What `within` answers instead of the work's own value. */
export const LATE: unique symbol = Symbol('late');

/**
 * Resolves with the work, or with `LATE` when it takes longer; the work itself goes on. Rejects as
 * the work does.
 */
export async function within<T>(
  clock: Clock,
  timeoutMs: number,
  work: Promise<T>,
): Promise<T | typeof LATE> {
  const done = new AbortController();
  const late = clock.sleep(timeoutMs, done.signal).then(
    (): typeof LATE => LATE,
    // Done in time: nobody listens any more.
    (): typeof LATE => LATE,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
