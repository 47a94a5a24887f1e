// Limits how many queries run at the same time, and how long each may take.
import { Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

export type QuerySlotsOptions = {
  readonly clock: Clock;
  /** Queries that may run at the same time. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  /** Called with the duration of each query, including failed ones. */
  readonly onEnd?: ((seconds: number) => void) | undefined;
};

export class QuerySlots {
  readonly #options: QuerySlotsOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: QuerySlotsOptions) {
    this.#options = options;
  }

  get runningCount(): number {
    return this.#running;
  }

  /**
   * Runs a query as soon as fewer than the limit are running. Rejects with `Unavailable` when it
   * takes too long.
   */
  async run<T>(query: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, timeoutMs, concurrency, onEnd } = this.#options;
    while (this.#running >= concurrency) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running++;
    const startedMs = clock.monotonicMs();
    const done = new AbortController();
    const deadline = new AbortController();
    clock.sleep(timeoutMs, AbortSignal.any([signal, done.signal])).then(
      () => deadline.abort(new Unavailable(`query took longer than ${timeoutMs} ms`)),
      // Answered in time.
      () => undefined,
    );
    try {
      return await query(AbortSignal.any([signal, deadline.signal]));
    } finally {
      done.abort();
      onEnd?.((clock.monotonicMs() - startedMs) / 1000);
      this.#running--;
      this.#waiting.shift()?.();
    }
  }
}
