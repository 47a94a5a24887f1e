// Timers of running tasks. Nodes request callbacks only here, so that replays and tests control the
// time.
import type { Clock, Timestamp } from '@tidemark/core';

/** Cancels a timer; calling it again does nothing. */
export type CancelTimer = () => void;

/** Wall time and callbacks. */
export interface Timers {
  now(): Timestamp;
  /**
   * Calls `callback` once when the wall time reaches `time`, never synchronously from this call.
   */
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
      // The owner of the timer handles failures of its callback (tasks catch their own).
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
    // Cancelled: the callback must not be called.
    if (options.signal.aborted) return;
    throw cause;
  }
  options.callback();
}

type PendingTimer = {
  readonly time: Timestamp;
  readonly sequence: number;
  readonly callback: () => void;
  isCancelled: boolean;
};

/** Fewer cancelled timers than this are not worth a search. */
const CANCELLED_MIN = 64;

/** Timers that fire when the owner moves the time: replays in fast mode, task tests. */
export class VirtualTimers implements Timers {
  #now: Timestamp;
  #sequence = 0;
  /**
   * A heap: no timer is due before the one at half its index. Cancelled ones are removed when they
   * reach the top.
   */
  #pending: PendingTimer[] = [];
  #cancelledCount = 0;

  constructor(start: Timestamp) {
    this.#now = start;
  }

  now(): Timestamp {
    return this.#now;
  }

  at(time: Timestamp, callback: () => void): CancelTimer {
    const entry = { time, sequence: this.#sequence++, callback, isCancelled: false };
    pushTimer(this.#pending, entry);
    return () => {
      if (entry.isCancelled) return;
      entry.isCancelled = true;
      this.#cancelledCount++;
      this.#sweep();
    };
  }

  /** Moves the time to `time` and fires due timers, in order of time. Time never goes back. */
  advanceTo(time: Timestamp): void {
    this.advanceSome(time, Number.POSITIVE_INFINITY);
  }

  /** As `advanceTo`, but fires at most `countMax` timers; false when more are due. */
  advanceSome(time: Timestamp, countMax: number): boolean {
    for (let count = 0; ; count++) {
      const next = this.#first();
      if (next === undefined || next.time > time) break;
      if (count >= countMax) return false;
      popTimer(this.#pending);
      // A later cancellation must not be counted, because it is no longer in the heap.
      next.isCancelled = true;
      if (next.time > this.#now) this.#now = next.time;
      next.callback();
    }
    if (time > this.#now) this.#now = time;
    return true;
  }

  /** Time of the next callback, `undefined` when there is none. */
  nextAt(): Timestamp | undefined {
    return this.#first()?.time;
  }

  #first(): PendingTimer | undefined {
    for (;;) {
      const [first] = this.#pending;
      if (first?.isCancelled !== true) return first;
      popTimer(this.#pending);
      this.#cancelledCount--;
    }
  }

  /** Timers that are moved with every point would pile up far from the top. */
  #sweep(): void {
    if (this.#cancelledCount < CANCELLED_MIN) return;
    if (this.#cancelledCount * 2 < this.#pending.length) return;
    const kept = this.#pending.filter(({ isCancelled }) => !isCancelled);
    this.#pending = kept.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    this.#cancelledCount = 0;
  }
}

type Waiting = { readonly time: Timestamp; readonly callback: () => void; cancel: CancelTimer };

/** Timers of a task that catches up: virtual ones until it goes live. */
export class RerunTimers implements Timers {
  readonly #live: Timers;
  readonly #waiting = new Set<Waiting>();
  #virtual: VirtualTimers | undefined;

  constructor(start: Timestamp, live: Timers) {
    this.#virtual = new VirtualTimers(start);
    this.#live = live;
  }

  get isLive(): boolean {
    return this.#virtual === undefined;
  }

  /** Moves the time; `undefined` once it moves by itself. */
  get virtual(): VirtualTimers | undefined {
    return this.#virtual ?? (this.#live instanceof VirtualTimers ? this.#live : undefined);
  }

  now(): Timestamp {
    return (this.#virtual ?? this.#live).now();
  }

  at(time: Timestamp, callback: () => void): CancelTimer {
    if (this.#virtual === undefined) return this.#live.at(time, callback);
    const fire = (): void => {
      this.#waiting.delete(entry);
      callback();
    };
    const entry: Waiting = { time, callback: fire, cancel: this.#virtual.at(time, fire) };
    this.#waiting.add(entry);
    return () => {
      this.#waiting.delete(entry);
      entry.cancel();
    };
  }

  /** Moves waiting timers to those of the machine. */
  goLive(): void {
    this.#virtual = undefined;
    for (const entry of this.#waiting) {
      entry.cancel();
      entry.cancel = this.#live.at(entry.time, entry.callback);
    }
  }
}

function isBefore(a: PendingTimer, b: PendingTimer): boolean {
  return a.time < b.time || (a.time === b.time && a.sequence < b.sequence);
}

function pushTimer(heap: PendingTimer[], entry: PendingTimer): void {
  let i = heap.push(entry) - 1;
  while (i > 0) {
    const above = (i - 1) >> 1;
    const parent = heap[above] as PendingTimer;
    if (!isBefore(entry, parent)) break;
    heap[i] = parent;
    i = above;
  }
  heap[i] = entry;
}

/** Removes the first of a heap that is not empty. */
function popTimer(heap: PendingTimer[]): void {
  const last = heap.pop() as PendingTimer;
  if (heap.length === 0) return;
  let i = 0;
  for (;;) {
    let below = i * 2 + 1;
    if (below >= heap.length) break;
    const right = heap[below + 1];
    if (right !== undefined && isBefore(right, heap[below] as PendingTimer)) below++;
    const child = heap[below] as PendingTimer;
    if (!isBefore(child, last)) break;
    heap[i] = child;
    i = below;
  }
  heap[i] = last;
}
