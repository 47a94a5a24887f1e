// Timers of running tasks. Nodes ask for callbacks here and nowhere else, so that replays and tests own the time.
import type { Clock, Timestamp } from '@tidemark/core';

/** Cancels a timer; calling it again does nothing. */
export type CancelTimer = () => void;

/** Wall time and callbacks. */
export interface Timers {
  now(): Timestamp;
  /** Calls `callback` once when the wall time reaches `time`, never synchronously from this call. */
  at(time: Timestamp, callback: () => void): CancelTimer;
}

/** Timers of a clock. */
export function clockTimers(clock: Clock): Timers {
  return {
    now: () => clock.now(),
    at: (time, callback) => {
      const abort = new AbortController();
      const delay = time - clock.now();
      // Rounded up: a timer may be late, never early.
      const delayMs = delay <= 0n ? 0 : Number((delay + 999_999n) / 1_000_000n);
      // The owner of the timer learns about failures of its callback by itself (tasks catch their own).
      void sleepThenCall(clock, delayMs, { signal: abort.signal, callback });
      return () => abort.abort();
    },
  };
}

/** Timers of the platform wrap around beyond 2^31 ms, about 24 days. */
const SLEEP_MS_MAX = 2 ** 30;

async function sleepThenCall(
  clock: Clock,
  delayMs: number,
  options: { readonly signal: AbortSignal; readonly callback: () => void },
): Promise<void> {
  try {
    let leftMs = delayMs;
    for (; leftMs > SLEEP_MS_MAX; leftMs -= SLEEP_MS_MAX) {
      await clock.sleep(SLEEP_MS_MAX, options.signal);
    }
    await clock.sleep(leftMs, options.signal);
  } catch (cause) {
    // Cancelled: nobody waits for this callback any more.
    if (options.signal.aborted) return;
    throw cause;
  }
  options.callback();
}

type PendingTimer = {
  readonly time: Timestamp;
  readonly sequence: number;
  readonly callback: () => void;
};

/** Timers that fire when the owner moves the time: replays in fast mode, task tests. */
export class VirtualTimers implements Timers {
  #now: Timestamp;
  #sequence = 0;
  readonly #pending: PendingTimer[] = [];

  constructor(start: Timestamp) {
    this.#now = start;
  }

  now(): Timestamp {
    return this.#now;
  }

  at(time: Timestamp, callback: () => void): CancelTimer {
    const entry = { time, sequence: this.#sequence++, callback };
    this.#pending.push(entry);
    return () => {
      const i = this.#pending.indexOf(entry);
      if (i >= 0) this.#pending.splice(i, 1);
    };
  }

  /** Moves the time to `time` and fires what is due on the way, in order of time. Time never goes back. */
  advanceTo(time: Timestamp): void {
    for (;;) {
      let next: PendingTimer | undefined;
      for (const entry of this.#pending) {
        const isDue = entry.time <= time;
        const isEarlier =
          next === undefined ||
          entry.time < next.time ||
          (entry.time === next.time && entry.sequence < next.sequence);
        if (isDue && isEarlier) next = entry;
      }
      if (next === undefined) break;
      this.#pending.splice(this.#pending.indexOf(next), 1);
      if (next.time > this.#now) this.#now = next.time;
      next.callback();
    }
    if (time > this.#now) this.#now = time;
  }

  /** Time of the next callback, `undefined` when none waits. */
  nextAt(): Timestamp | undefined {
    let min: Timestamp | undefined;
    for (const entry of this.#pending) if (min === undefined || entry.time < min) min = entry.time;
    return min;
  }
}
