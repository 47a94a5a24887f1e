// Writes checkpoints of series indexes that have grown much, in the background.
import type { IndexFiles } from '../series/index-files.ts';
import type { Databases } from '../state/databases.ts';

export class Checkpoints {
  readonly #databases: Databases;
  readonly #indexFiles: IndexFiles;
  readonly #signal: AbortSignal;
  #running: Promise<void> | undefined;

  /** `signal` ends the writing in the background. */
  constructor(options: {
    readonly databases: Databases;
    readonly indexFiles: IndexFiles;
    readonly signal: AbortSignal;
  }) {
    this.#databases = options.databases;
    this.#indexFiles = options.indexFiles;
    this.#signal = options.signal;
  }

  /** Begins to go through all indexes, unless it is running already. Failures are logged. */
  start(): void {
    this.#running ??= this.#writeDue().finally(() => {
      this.#running = undefined;
    });
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  /** At the end: writes the checkpoints that would speed up the next start. */
  async writeAtEnd(signal: AbortSignal): Promise<void> {
    for (const { stored } of this.#databases.all()) {
      await this.#indexFiles.checkpoint(stored, { isClosing: true, signal });
    }
  }

  async #writeDue(): Promise<void> {
    const databases = this.#databases;
    for (const { name, stored } of databases.all()) {
      await this.#indexFiles.checkpoint(stored, { isClosing: false, signal: this.#signal });
      // The index was dropped or rebuilt meanwhile.
      if (databases.get(name)?.stored === stored) continue;
      this.#indexFiles.removeOthers(databases.storedIndexes());
    }
  }
}
