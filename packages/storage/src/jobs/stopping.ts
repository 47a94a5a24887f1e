// How background work ends when the engine is closed: compactions at once, as nobody waits for
// them; a flush may go on for a while, because the next start then has no log to read.
import { Cancelled, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';
import type { StorageLog } from '../options.ts';

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

  /** Throws `Unavailable` when the engine closes, or is closed. */
  needOpen(): void {
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

  /** Everything is closed. */
  end(): void {
    this.#closed.abort();
  }
}

/** What is less than this in the memtable is read from the log in a few milliseconds. */
const WORTH_BYTES = 1 << 20;

/**
 * Moves what is in memory to segments, so that the next start has no log to read. What can not be
 * stays in the log.
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
