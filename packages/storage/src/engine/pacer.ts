// Background work in slices: gives way to writes and queries after a few milliseconds.
import type { Turns } from './turns.ts';

export class Pacer {
  readonly #turns: Turns;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Cheap while the slice lasts. */
  async pause(): Promise<void> {
    if (this.#turns.isOver) await this.#turns.enter('background');
  }
}
