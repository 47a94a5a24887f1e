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
  /** Since when writes have been waiting without a pause, or without progress. */
  #sinceMs = 0;
  #doneAtStart = 0;
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
    if (this.#done === this.#sent) this.#isBehind = false;
  }

  /** No sent rows will be processed any more. */
  clear(): void {
    this.done(this.#sent - this.#done);
    this.#timer?.abort(CLEARED);
    this.#timer = undefined;
  }

  /**
   * Resolves when all rows sent before are processed, or take too long; `undefined` when there is
   * nothing to wait for.
   */
  wait(): Promise<void> | undefined {
    if (this.#done === this.#sent || this.#isBehind) return undefined;
    if (this.#waiters.length === 0) this.#begin();
    return new Promise((resolve) => this.#waiters.push({ through: this.#sent, resolve }));
  }

  #begin(): void {
    this.#sinceMs = this.#clock.monotonicMs();
    this.#doneAtStart = this.#done;
    if (this.#timer === undefined) this.#startTimer(WAIT_MS_MAX);
  }

  /**
   * The timer is not cancelled when everything is processed: most writes are, within a fraction of
   * its time, and the next one would start it again.
   */
  #startTimer(delayMs: number): void {
    const timer = new AbortController();
    this.#timer = timer;
    this.#clock.sleep(delayMs, timer.signal).then(
      () => {
        if (this.#timer === timer) this.#expire();
      },
      () => undefined, // Nothing is waited for.
    );
  }

  // Under steady load there are always rows on their way; only a task that has made no progress, or
  // whose oldest waiter is as old as the timer, is behind.
  #expire(): void {
    this.#timer = undefined;
    if (this.#waiters.length === 0) return;
    const leftMs = this.#sinceMs + WAIT_MS_MAX - this.#clock.monotonicMs();
    if (leftMs > 0) {
      this.#startTimer(leftMs);
    } else if (this.#done > this.#doneAtStart && this.#waiters.length <= WAITERS_MAX) {
      this.#begin();
    } else {
      this.#isBehind = true;
      for (const { resolve } of this.#waiters.splice(0)) resolve();
    }
  }
}

const CLEARED = new Error('the rows will not be processed');

/** More concurrent writes than this mean that they arrive faster than the task works. */
const WAITERS_MAX = 256;
