// Writes checkpoints of series indexes that have grown much, in the background.
import type { IndexFiles } from '../series/index-files.ts';
import type { State } from '../state/state.ts';

export class Checkpoints {
  readonly #state: State;
  readonly #indexFiles: IndexFiles;
  readonly #syncLog: () => Promise<void>;
  readonly #signal: AbortSignal;
  #running: Promise<void> | undefined;

  /** `signal` ends the writing in the background. */
  constructor(options: {
    readonly state: State;
    readonly indexFiles: IndexFiles;
    readonly wal: { syncNow(): Promise<void> };
    readonly signal: AbortSignal;
  }) {
    this.#state = options.state;
    this.#indexFiles = options.indexFiles;
    this.#syncLog = () => options.wal.syncNow();
    this.#signal = options.signal;
  }

  /** Begins to go through all indexes, unless that is under way. Failures are logged. */
  start(): void {
    this.#running ??= this.#writeDue().finally(() => {
      this.#running = undefined;
    });
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  /** Writes the checkpoints that would speed up the next start, when the engine closes. */
  async writeAtEnd(signal: AbortSignal): Promise<void> {
    const options = { isClosing: true, signal, syncLog: this.#syncLog };
    for (const { stored } of this.#state.databases.all()) {
      await this.#indexFiles.checkpoint(stored, options);
    }
  }

  async #writeDue(): Promise<void> {
    const { databases } = this.#state;
    const options = { isClosing: false, signal: this.#signal, syncLog: this.#syncLog };
    for (const { name, stored } of databases.all()) {
      await this.#indexFiles.checkpoint(stored, options);
      // The index was dropped or rebuilt meanwhile.
      if (databases.get(name)?.stored === stored) continue;
      this.#indexFiles.removeOthers(this.#state.indexFileIds());
    }
  }
}
