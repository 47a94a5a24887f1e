// Deadlines of operations with the same timeout, with one timer for all, because a cancellable
// timer costs a tenth of a write.
import { Arrivals } from '@tidemark/core';
import type { Arrival, Clock } from '@tidemark/core';

interface Deadline extends Arrival<Deadline> {
  readonly atMs: number;
  readonly onLate: () => void;
}

// A constant reason: without one, every cancelled timer creates an exception with a stack.
const NOTHING_LEFT = 'nothing left to wait for';

export class Deadlines {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** In the order of their arrival, which is that of their times. */
  readonly #pending = new Arrivals<Deadline>();
  #timer: AbortController | undefined;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls `onLate` after the timeout, unless the returned function is called before. */
  add(onLate: () => void): () => void {
    const deadline: Deadline = { atMs: this.#clock.monotonicMs() + this.#timeoutMs, onLate };
    this.#pending.add(deadline);
    this.#start();
    return () => {
      this.#pending.remove(deadline);
      if (this.#pending.count > 0) return;
      this.#timer?.abort(NOTHING_LEFT);
      this.#timer = undefined;
    };
  }

  #start(): void {
    const first = this.#pending.oldest;
    if (this.#timer !== undefined || first === undefined) return;
    const timer = new AbortController();
    this.#timer = timer;
    const waitMs = Math.max(0, first.atMs - this.#clock.monotonicMs());
    this.#clock.sleep(waitMs, timer.signal).then(
      () => {
        this.#timer = undefined;
        this.#callLate();
        this.#start();
      },
      () => undefined, // Nothing was left to wait for.
    );
  }

  #callLate(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const deadline of this.#pending) {
      if (deadline.atMs > nowMs) break;
      this.#pending.remove(deadline);
      deadline.onLate();
    }
  }
}
