// Runs a node's work that needs external responses: one item after another, in order, counted.

export class AsyncQueue {
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;

  get waitingCount(): number {
    return this.#waiting;
  }

  /** Runs after everything queued before it. `work` handles its own failures. */
  add(work: () => Promise<void>): void {
    this.#waiting++;
    this.#tail = this.#runAfter(this.#tail, work);
  }

  idle(): Promise<void> {
    return this.#tail;
  }

  async #runAfter(previous: Promise<void>, work: () => Promise<void>): Promise<void> {
    await previous;
    try {
      await work();
    } finally {
      this.#waiting--;
    }
  }
}
