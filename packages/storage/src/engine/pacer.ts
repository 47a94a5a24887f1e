// Background work in slices: gives way to writes and queries after a few milliseconds, and ends when it is told to.
import type { Turns } from './turns.ts';

export class Pacer {
  readonly #turns: Turns;
  readonly #signal: AbortSignal | undefined;

  constructor(turns: Turns, signal?: AbortSignal) {
    this.#turns = turns;
    this.#signal = signal;
  }

  /** Cheap while the slice lasts. Throws the signal's reason once it is aborted. */
  async pause(): Promise<void> {
    this.#signal?.throwIfAborted();
    if (this.#turns.isOver) await this.#turns.enter('background');
  }
}
