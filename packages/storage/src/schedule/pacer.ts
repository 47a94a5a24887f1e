// Runs background work in time slices: it gives way to writes and queries after a few milliseconds,
// and stops when its signal is aborted.
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

  /** Waits for the next slice when this one is used up. Throws the signal's reason once aborted. */
  async pause(): Promise<void> {
    this.#signal?.throwIfAborted();
    if (this.#turns.isOver) await this.#turns.enter(this.#work);
  }

  /** Runs work that yields where it may pause. It is left unfinished when the signal is aborted. */
  async run(work: Generator<undefined>): Promise<void> {
    while (work.next().done !== true) {
      // A promise per step would cost more than most steps.
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
