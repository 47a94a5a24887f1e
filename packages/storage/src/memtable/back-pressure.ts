// Back-pressure: while memtables are flushed, new ones fill. Beyond their ordinary size they may
// grow only as fast as the flush proceeds. So each write waits a little, in the order of arrival,
// instead of all waiting for the end of the flush, which takes ten seconds and more with a million
// new series.

export class BackPressure {
  readonly #limitBytes: number;
  readonly #heldBytes: () => number;
  /** How much of the running flush is done, 0 to 1; `undefined` while none runs. */
  #done: number | undefined;
  #waiting: (() => void)[] = [];

  /**
   * `limitBytes` is the ordinary size of the memtables, `heldBytes` gives the size of the active
   * ones.
   */
  constructor(limitBytes: number, heldBytes: () => number) {
    this.#limitBytes = limitBytes;
    this.#heldBytes = heldBytes;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves when a write may add rows. Returns `undefined`, not a promise, while there is room.
   */
  enter(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#hasRoom()) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /**
   * Reports progress of a flush, 0 to 1. At its end memtables may have twice their ordinary size.
   */
  flushing(done: number): void {
    this.#done = Math.max(this.#done ?? 0, done);
    // One write at a time: its rows are only counted when they are in the memtable, mostly before
    // the next step of the flush.
    if (this.#waiting.length > 0 && this.#hasRoom()) this.#waiting.shift()?.();
  }

  /** The flush has ended, successfully or not: waiting writes proceed. */
  flushEnded(): void {
    this.#done = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const proceed of waiting) proceed();
  }

  #hasRoom(): boolean {
    return this.#done === undefined || this.#heldBytes() <= this.#limitBytes * (1 + this.#done);
  }
}
