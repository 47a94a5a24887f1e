// Waits until rows sent to a task host are processed: a write is acknowledged only when the alerts
// that it raises are stored. A task that is too slow is skipped until it has caught up.
import type { Clock } from '@tidemark/core';

/** Longest time that one write waits for one task. */
const WAIT_MS_MAX = 250;

type Waiter = { readonly through: number; readonly resolve: () => void };

export class ProcessedRows {
  readonly #clock: Clock;
  #sent = 0;
  #done = 0;
  #waiters: Waiter[] = [];
  #timer: AbortController | undefined;
  #isBehind = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  sent(rowCount: number): void {
    this.#sent += rowCount;
  }

  done(rowCount: number): void {
    this.#done = Math.min(this.#sent, this.#done + rowCount);
    while ((this.#waiters[0]?.through ?? Number.POSITIVE_INFINITY) <= this.#done) {
      this.#waiters.shift()?.resolve();
    }
    if (this.#done < this.#sent) return;
    this.#isBehind = false;
    this.#timer?.abort(CAUGHT_UP);
    this.#timer = undefined;
  }

  /** No sent rows will be processed any more. */
  clear(): void {
    this.done(this.#sent - this.#done);
  }

  /**
   * Resolves when all rows sent before are processed, or take too long; `undefined` when there is
   * nothing to wait for.
   */
  wait(): Promise<void> | undefined {
    if (this.#done === this.#sent || this.#isBehind) return undefined;
    this.#startTimer();
    return new Promise((resolve) => this.#waiters.push({ through: this.#sent, resolve }));
  }

  #startTimer(): void {
    if (this.#timer !== undefined) return;
    const timer = new AbortController();
    this.#timer = timer;
    const doneAtStart = this.#done;
    this.#clock.sleep(WAIT_MS_MAX, timer.signal).then(
      () => this.#expire(doneAtStart),
      // Everything was processed in time.
      () => undefined,
    );
  }

  // Under steady load there are always rows on their way; only a task that has made no progress, or
  // whose oldest waiter is as old as the timer, is behind.
  #expire(doneAtStart: number): void {
    this.#timer = undefined;
    const isMoving = this.#done > doneAtStart && this.#waiters.length <= WAITERS_MAX;
    if (isMoving) {
      this.#startTimer();
      return;
    }
    this.#isBehind = true;
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }
}

/** More concurrent writes than this mean that they arrive faster than the task works. */
const WAITERS_MAX = 256;

// A constant reason saves the stack trace that would be created for each cancelled timer.
const CAUGHT_UP = new Error('caught up');
