// Ends background work when the engine is closed: compactions at once, since nobody waits for them;
// a flush has some time to finish, because then the next start has no log to replay.
import { Cancelled, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { StorageLog } from '@tidemark/storage-api';

import { LIMITS } from '../limits.ts';

export class Stopping {
  readonly #background = new AbortController();
  readonly #flushes = new AbortController();
  readonly #closed = new AbortController();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborted when the engine begins to close. */
  get background(): AbortSignal {
    return this.#background.signal;
  }

  /** Aborted when a flush has no time left. */
  get flushes(): AbortSignal {
    return this.#flushes.signal;
  }

  /** Throws `Unavailable` once the engine is closing. */
  requireOpen(): void {
    if (this.#background.signal.aborted) throw new Unavailable('storage is closed');
  }

  begin(): void {
    this.#background.abort(new Cancelled('storage is closing'));
    this.#clock.sleep(LIMITS.closingFlushMs.value, this.#closed.signal).then(
      () => this.#flushes.abort(new Cancelled('storage is closing and flushing takes too long')),
      // Everything was done in time.
      () => undefined,
    );
  }

  /** Called when everything is closed. */
  end(): void {
    this.#closed.abort();
  }
}

/** Fewer bytes than this in memtables are not flushed: replaying them takes a few milliseconds. */
const WORTH_BYTES = 1 << 20;

/**
 * Flushes the memtables, so that the next start has no log to replay. When that fails, the rows
 * stay in the log.
 */
export async function flushAtEnd(
  flush: { run(): Promise<void> },
  memtableBytes: number,
  log: StorageLog,
): Promise<void> {
  if (memtableBytes <= WORTH_BYTES) return;
  log('info', 'flushing before the end', { memtableBytes });
  try {
    await flush.run();
  } catch (error) {
    // The rows are durable; only the next start takes longer.
    log('warn', 'rows stay in the log, which the next start reads', { error });
  }
}
