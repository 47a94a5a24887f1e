// What was opened together is closed together: in reverse, each once, whatever fails on the way.
import { assert } from './assert.ts';

type Close = () => void | Promise<void>;

/** Parts that are open, in the order in which they were opened. */
export class OpenParts {
  readonly #closes: Close[] = [];
  #closing: Promise<void> | undefined;

  /** Remembers how something that was just opened is closed. */
  add(close: Close): void {
    assert(this.#closing === undefined, 'nothing is opened while the rest is closed');
    this.#closes.push(close);
  }

  /**
   * Closes everything, the last one first; later calls wait for the first. Rejects with what went
   * wrong with the first part that could not be closed, when all others are.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closes.reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error); // The others are closed all the same.
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/**
 * Opens several parts. When a later one can not be opened, those before it are closed and the
 * reason is thrown; `onCloseFailure` is told when that fails too.
 */
export async function openAll<T>(
  open: (parts: OpenParts) => Promise<T>,
  onCloseFailure: (error: unknown) => void,
): Promise<T> {
  const parts = new OpenParts();
  try {
    return await open(parts);
  } catch (error) {
    await parts.close().catch(onCloseFailure);
    throw error;
  }
}
