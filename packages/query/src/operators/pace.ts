// Pace of a query on the main thread: it lets others run every few milliseconds and notices cancellation.
import { Cancelled } from '@tidemark/core';

import type { Steps } from '../functions/steps.ts';
import { SLICE_MS } from '../limits.ts';
import type { MemoryGate } from './memory-gate.ts';

/** One per statement. Every loop over batches awaits `turn()`. */
export class Pace {
  readonly #signal: AbortSignal;
  readonly #monotonicMs: () => number;
  readonly #gate: MemoryGate | undefined;
  #sliceEnd: number;

  constructor(signal: AbortSignal, monotonicMs: () => number, gate?: MemoryGate) {
    this.#signal = signal;
    this.#gate = gate;
    this.#monotonicMs = monotonicMs;
    this.#sliceEnd = monotonicMs() + SLICE_MS;
  }

  /** Whether the slice is used up; then `turn` has to be awaited. */
  get isDue(): boolean {
    if (this.#signal.aborted || this.#gate?.isClosed === true) return true;
    return this.#monotonicMs() >= this.#sliceEnd;
  }

  /** Gives way to other work when the slice is used up, or others hold the memory that is wanted. Throws the signal's reason when cancelled. */
  async turn(): Promise<void> {
    this.check();
    if (this.#gate?.isClosed === true) {
      await this.#gate.enter();
      this.check();
    }
    if (this.#monotonicMs() < this.#sliceEnd) return;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    this.#sliceEnd = this.#monotonicMs() + SLICE_MS;
    this.check();
  }

  /** Does work to its end, one step after the other, and gives way between them. */
  async run<T>(steps: Steps<T>): Promise<T> {
    try {
      for (;;) {
        if (this.isDue) await this.turn();
        const step = steps.next();
        if (step.done === true) return step.value;
      }
    } catch (error) {
      // Cancelled, or over a limit: what the work holds is given back.
      steps.return(undefined as never);
      throw error;
    }
  }

  /** Throws the signal's reason when cancelled. */
  check(): void {
    if (!this.#signal.aborted) return;
    const reason: unknown = this.#signal.reason;
    throw reason instanceof Error ? reason : new Cancelled('query interrupted');
  }
}
