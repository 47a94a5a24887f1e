// Back-pressure: while memtables are flushed, new ones fill. Beyond their ordinary size they may
// grow only as fast as the flush proceeds. So each write waits a little, in the order of arrival,
// instead of all waiting for the end of the flush, which takes ten seconds and more with a million
// new series. Each write reserves the bytes that its rows will take, until they are in the
// memtable.

type Waiting = { readonly sizeBytes: number; readonly proceed: () => void };

export class BackPressure {
  readonly #limitBytes: number;
  readonly #heldBytes: () => number;
  /** How much of the running flush is done, 0 to 1; `undefined` while none runs. */
  #done: number | undefined;
  /** Bytes of admitted writes that are not in the memtable yet. */
  #expectedBytes = 0;
  #waiting: Waiting[] = [];

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
   * Resolves when a write may add rows of about this many bytes. Returns `undefined`, not a
   * promise, while there is room. `leave` has to follow.
   */
  enter(sizeBytes: number): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#hasRoom()) {
      this.#expectedBytes += sizeBytes;
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting.push({ sizeBytes, proceed: resolve });
    });
  }

  /** Releases the bytes of a write whose rows are in the memtable now, or will not come. */
  leave(sizeBytes: number): void {
    this.#expectedBytes -= sizeBytes;
    this.#admit();
  }

  /**
   * Reports progress of a flush, 0 to 1. At its end memtables may have twice their ordinary size.
   */
  flushing(done: number): void {
    this.#done = Math.max(this.#done ?? 0, done);
    this.#admit();
  }

  /** The flush has ended, successfully or not: waiting writes proceed. */
  flushEnded(): void {
    this.#done = undefined;
    this.#admit();
  }

  /** Lets in as many as there is room for. */
  #admit(): void {
    let count = 0;
    while (count < this.#waiting.length && this.#hasRoom()) {
      this.#expectedBytes += this.#waiting[count++]!.sizeBytes;
    }
    for (const { proceed } of this.#waiting.splice(0, count)) proceed();
  }

  #hasRoom(): boolean {
    if (this.#done === undefined) return true;
    return this.#heldBytes() + this.#expectedBytes <= this.#limitBytes * (1 + this.#done);
  }
}
