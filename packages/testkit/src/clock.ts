// Time in tests.
import type { Clock, Timestamp } from '@tidemark/core';

type Sleeper = { readonly dueMs: number; readonly wake: () => void };

/** A clock that only moves on request. */
export class TestClock implements Clock {
  readonly #start: Timestamp;
  #elapsedMs = 0;
  readonly #sleepers = new Set<Sleeper>();

  /** Wall time begins here, in nanoseconds since 1970; monotonic time at 0. */
  constructor(start: Timestamp = 0n) {
    this.#start = start;
  }

  now(): Timestamp {
    return this.#start + BigInt(Math.round(this.#elapsedMs * 1e6));
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper = { dueMs: this.#elapsedMs + delayMs, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Moves time on and wakes all sleepers that are due, at once. */
  advance(ms: number): void {
    this.#elapsedMs += ms;
    for (const sleeper of this.#sleepers) if (sleeper.dueMs <= this.#elapsedMs) this.#wake(sleeper);
  }

  /**
   * Moves time on to a moment and wakes sleepers one after another at their own times; they may
   * sleep again.
   */
  async passTo(end: Timestamp): Promise<void> {
    const endMs = Number(end - this.#start) / 1e6;
    for (;;) {
      // Gives woken sleepers the chance to sleep again.
      for (let i = 0; i < 50; i++) await Promise.resolve();
      const [first] = [...this.#sleepers].sort((a, b) => a.dueMs - b.dueMs);
      if (first === undefined || first.dueMs > endMs) break;
      this.#elapsedMs = Math.max(this.#elapsedMs, first.dueMs);
      this.#wake(first);
    }
    this.#elapsedMs = endMs;
  }

  /** Wakes all sleepers; time stands still. */
  wakeAll(): void {
    for (const sleeper of this.#sleepers) this.#wake(sleeper);
  }

  #wake(sleeper: Sleeper): void {
    this.#sleepers.delete(sleeper);
    sleeper.wake();
  }
}
