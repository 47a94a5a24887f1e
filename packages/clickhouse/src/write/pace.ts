// Decides when the next insert into the tables of a policy begins. The cost of an insert depends on
// its parts much more than on its rows (`npm run bench -- cluster/load`). So an insert waits until
// as many requests have arrived as were in flight before, because clients that were just answered
// are likely to write again at once.
import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';

/** Rows and requests that wait to be inserted. */
export type Waiting = { readonly waiters: readonly unknown[]; readonly sizeBytes: number };

export class InsertPace {
  readonly #clock: Clock;
  /** Times of the last insert. All times here are monotonic. */
  #beganMs = -Infinity;
  #endedMs = -Infinity;
  /** Number of requests that the next insert waits for. */
  #expected = 1;
  #arrived: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called when another request has arrived. */
  arrive(): void {
    this.#arrived?.();
  }

  /** Resolves when the insert should begin; no promise if that is at once. */
  begin(waiting: () => Waiting): Promise<void> | undefined {
    const nowMs = this.#clock.monotonicMs();
    const isRested = this.#beganMs + LIMITS.batchMs.value <= nowMs;
    const isPatient = this.#endedMs + this.#patienceMs() > nowMs;
    if (!isRested || (isPatient && !this.#isEnough(waiting))) return this.#wait(waiting);
    this.#beganMs = nowMs;
    return undefined;
  }

  async #wait(waiting: () => Waiting): Promise<void> {
    const clock = this.#clock;
    const restMs = this.#beganMs + LIMITS.batchMs.value - clock.monotonicMs();
    if (restMs > 0) await clock.sleep(restMs);
    const leftMs = this.#endedMs + this.#patienceMs() - clock.monotonicMs();
    if (leftMs > 0 && !this.#isEnough(waiting)) {
      const enough = new AbortController();
      this.#arrived = () => {
        if (this.#isEnough(waiting)) enough.abort(this);
      };
      // Rejects when enough requests have arrived.
      await clock.sleep(leftMs, enough.signal).catch(() => undefined);
      this.#arrived = undefined;
    }
    this.#beganMs = clock.monotonicMs();
  }

  #isEnough(waiting: () => Waiting): boolean {
    const { waiters, sizeBytes } = waiting();
    return waiters.length >= this.#expected || sizeBytes >= LIMITS.batchBytes.value;
  }

  /**
   * Called at the end of an insert, with the number of requests that were answered and that have
   * arrived meanwhile.
   */
  end(answered: number, waiting: number): void {
    this.#endedMs = this.#clock.monotonicMs();
    this.#expected = answered + waiting;
  }

  /** The duration of the last insert, so that a slow cluster gets fewer inserts. */
  #patienceMs(): number {
    const tookMs = this.#endedMs - this.#beganMs;
    return Math.min(Math.max(tookMs, LIMITS.batchMs.value), LIMITS.gatherMs.value);
  }
}
