// Background work in slices: gives way to writes and queries after a few milliseconds.
import type { Clock } from '@tidemark/core';

export class Pacer {
  readonly #clock: Clock;
  readonly #sliceMs: number;
  #sliceEnd = 0;

  constructor(clock: Clock, sliceMs: number) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
  }

  /** Cheap while the slice lasts. */
  async pause(): Promise<void> {
    const now = this.#clock.monotonicMs();
    if (now < this.#sliceEnd) return;
    if (this.#sliceEnd > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    this.#sliceEnd = this.#clock.monotonicMs() + this.#sliceMs;
  }
}
