// Background work in slices: gives way to writes and queries after a few milliseconds, and ends
// when it is told to.
import type { Turns, Work } from './turns.ts';

export class Pacer {
  readonly #turns: Turns;
  readonly #work: Work;
  readonly #signal: AbortSignal | undefined;

  constructor(
    turns: Turns,
    options: {
      readonly work?: Work | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ) {
    this.#turns = turns;
    this.#work = options.work ?? 'background';
    this.#signal = options.signal;
  }

  /** Cheap while the slice lasts. Throws the signal's reason once it is aborted. */
  async pause(): Promise<void> {
    this.#signal?.throwIfAborted();
    if (this.#turns.isOver) await this.#turns.enter(this.#work);
  }

  /** Does work to its end that tells where it may pause. It is left when the signal is aborted. */
  async run(work: Generator<undefined>): Promise<void> {
    while (work.next().done !== true) {
      // A promise for each step would cost more than many of them.
      if (!this.#turns.isOver) continue;
      try {
        await this.pause();
      } catch (error) {
        work.return(undefined);
        throw error;
      }
    }
  }
}
