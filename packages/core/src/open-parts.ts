// Closes parts that were opened together: in reverse order, each once, even if closing one fails.
import { assert } from './assert.ts';

type Close = () => void | Promise<void>;

/** The open parts of a service, in the order in which they were opened. */
export class OpenParts {
  readonly #closes: Close[] = [];
  #closing: Promise<void> | undefined;

  /** Adds a part that was just opened; `close` closes it. */
  add(close: Close): void {
    assert(this.#closing === undefined, 'nothing is opened while the rest is closed');
    this.#closes.push(close);
  }

  /**
   * Closes everything, the last one first; later calls wait for the first. When parts could not be
   * closed, rejects with the first failure after the others were closed.
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
        failures.push(error); // Thrown below, after the others are closed.
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/**
 * Opens several parts. When one cannot be opened, those opened before it are closed and its error
 * is thrown; an error of that closing goes to `onCloseFailure`.
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
