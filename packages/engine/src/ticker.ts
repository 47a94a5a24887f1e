// Periodic background work that can be stopped and waited for.
import type { Clock } from '@tidemark/core';

/**
 * Calls `work` every `intervalMs` until it is closed. One call at a time; late ones are skipped.
 * The work handles its own failures: a rejection is a bug, which ends the process.
 */
export class Ticker {
  readonly #stopped = new AbortController();
  readonly #done: Promise<void>;

  constructor(clock: Clock, intervalMs: number, work: () => Promise<void> | void) {
    this.#done = this.#run(clock, intervalMs, work);
  }

  /** Stops and waits for the call that is running. */
  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }

  async #run(clock: Clock, intervalMs: number, work: () => Promise<void> | void): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        await clock.sleep(intervalMs, signal);
      } catch {
        // Closed.
        return;
      }
      await work();
    }
  }
}
