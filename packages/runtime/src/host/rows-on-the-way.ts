// Rows that were sent to a task's host and are not processed yet, and waiting for room for more.

/** Beyond this the task asks to wait. About 16 MB at ten fields. */
const ROWS_ON_THE_WAY_MAX = 131_072;

export class RowsOnTheWay {
  #count = 0;
  #taken = 0;
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  get count(): number {
    return this.#count;
  }

  /** All rows that hosts have processed so far. */
  get taken(): number {
    return this.#taken;
  }

  sent(count: number): void {
    this.#count += count;
  }

  done(count: number): void {
    this.#taken += count;
    this.#count = Math.max(0, this.#count - count);
    if (this.#count <= ROWS_ON_THE_WAY_MAX / 2) this.#makeRoom();
  }

  /** Resolves when there is room for more; `undefined` when there is. */
  ready(): Promise<void> | undefined {
    if (this.#count < ROWS_ON_THE_WAY_MAX) return undefined;
    if (this.#room === undefined) {
      let resolve: () => void = () => undefined;
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#room = { promise, resolve };
    }
    return this.#room.promise;
  }

  /** The host is gone: they are lost. Returns their number. */
  lose(): number {
    const lost = this.#count;
    this.#count = 0;
    this.#makeRoom();
    return lost;
  }

  /** No more rows are sent: nobody waits any longer. */
  end(): void {
    this.#makeRoom();
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
