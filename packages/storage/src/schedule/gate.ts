// A gate for work. While it is held, running work has ended and new work waits. After it is closed,
// new work is refused.
import { Unavailable } from '@tidemark/core';

export class Gate {
  readonly #running = new Set<Promise<unknown>>();
  #held: Promise<void> | undefined;
  #isClosed = false;

  /** Runs work when the gate is not held. Rejects with `Unavailable` when it is closed. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#held !== undefined) await this.#held;
    if (this.#isClosed) throw new Unavailable('storage is closed');
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Resolves when no work is running. None begins until the returned function is called. */
  async hold(): Promise<() => void> {
    while (this.#held !== undefined) await this.#held;
    let release = (): void => undefined;
    this.#held = new Promise((resolve) => {
      release = () => {
        this.#held = undefined;
        resolve();
      };
    });
    await Promise.allSettled(this.#running);
    return release;
  }

  /** Resolves when no work is running; none begins afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
  }
}
