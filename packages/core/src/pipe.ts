// Connects a writer that pushes to a reader that pulls. There is no queue: each write waits until
// the reader has taken the value.

import { Cancelled } from './errors.ts';

/**
 * Hands values from a writer to a reader, one at a time. One reader; a value is not `undefined`.
 */
export class Pipe<T> implements AsyncIterable<T> {
  #value: T | undefined;
  #isEnded = false;
  #failure: Error | undefined;
  #wakeReader: () => void = () => undefined;
  #wakeWriter: () => void = () => undefined;

  /** Resolves when the reader has come back for more, or has seen the end. */
  async write(value: T): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#value = value;
    this.#wakeReader();
    await new Promise<void>((resolve) => {
      this.#wakeWriter = resolve;
    });
    if (this.#failure !== undefined) throw this.#failure;
  }

  end(): void {
    this.#isEnded = true;
    this.#wakeReader();
  }

  /** Ends the pipe with an error, which both reader and writer get. */
  breakOff(reason: Error): void {
    this.#failure ??= reason;
    this.#wakeReader();
    this.#wakeWriter();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      for (;;) {
        while (this.#value === undefined && !this.#isEnded && this.#failure === undefined) {
          this.#wakeWriter();
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
        if (this.#failure !== undefined) throw this.#failure;
        const value = this.#value;
        if (value === undefined) return;
        this.#value = undefined;
        yield value;
      }
    } finally {
      if (!this.#isEnded) this.#failure ??= new Cancelled('nobody reads any more');
      this.#wakeWriter();
    }
  }
}
