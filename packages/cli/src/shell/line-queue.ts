// Queues lines of a terminal, so that text typed while a statement runs is not lost.
import type { Interface } from 'node:readline';

/** More lines than this were pasted by mistake; the rest is dropped with a message. */
export const MAX_WAITING_LINES = 10_000;

export class LineQueue {
  readonly #readline: Interface;
  readonly #lines: string[] = [];
  #isClosed = false;
  #dropped = 0;
  #wake: (() => void) | undefined;

  constructor(readline: Interface) {
    this.#readline = readline;
    readline.on('line', (line) => {
      if (this.#lines.length < MAX_WAITING_LINES) this.#lines.push(line);
      else this.#dropped++;
      this.#wake?.();
    });
    readline.once('close', () => {
      this.#isClosed = true;
      this.#wake?.();
    });
  }

  /**
   * The next line; one typed earlier is shown after the prompt. `undefined` at the end of input.
   */
  async next(prompt: string): Promise<string | undefined> {
    this.#readline.setPrompt(prompt);
    if (this.#lines.length === 0 && !this.#isClosed) {
      this.#readline.prompt(true);
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    return this.#lines.shift();
  }

  /** Drops lines typed ahead; returns their number, including those that did not fit. */
  clear(): number {
    const count = this.#lines.length + this.#dropped;
    this.#lines.length = 0;
    this.#dropped = 0;
    return count;
  }
}
