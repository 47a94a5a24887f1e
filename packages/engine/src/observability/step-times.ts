// Measures the steps of slow operations, such as the start of an engine, for the log.
import type { Clock } from '@tidemark/core';

export class StepTimes {
  readonly #clock: Clock;
  readonly #tookMs: Record<string, number> = {};
  #sinceMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** Ends the step of this name, and begins the next one. */
  end(step: string): void {
    const nowMs = this.#clock.monotonicMs();
    this.#tookMs[step] = Math.round(nowMs - this.#sinceMs);
    this.#sinceMs = nowMs;
  }

  /** In milliseconds, by step, in their order. */
  get tookMs(): Readonly<Record<string, number>> {
    return this.#tookMs;
  }
}
