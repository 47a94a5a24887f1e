// Back-pressure: a memtable grows while the one before it is flushed, but beyond its ordinary size
// only as fast as the flush gets on. Writes then wait a little each, in the order in which they
// came, where they would all wait for the end of the flush: of a million new series that is ten
// seconds and more.

export class BackPressure {
  readonly #limitBytes: number;
  readonly #heldBytes: () => number;
  /** How much of the running flush is done, 0 to 1; `undefined` while none runs. */
  #done: number | undefined;
  #waiting: (() => void)[] = [];

  /**
   * `limitBytes`: ordinary size of a memtable, `heldBytes`: what the one that takes writes has now.
   */
  constructor(limitBytes: number, heldBytes: () => number) {
    this.#limitBytes = limitBytes;
    this.#heldBytes = heldBytes;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves when a write may add to the memtable; at once, without a promise, while it has room.
   */
  enter(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#hasRoom()) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /**
   * A flush has begun, or got on: the memtable may have twice its ordinary size when it is done.
   */
  flushing(done: number): void {
    this.#done = Math.max(this.#done ?? 0, done);
    // One at a time: what it brings is counted when it is in the memtable, which is before the next
    // step of the flush or soon after it.
    if (this.#waiting.length > 0 && this.#hasRoom()) this.#waiting.shift()?.();
  }

  /** The flush has ended, be it that it failed: whoever waited goes on. */
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
