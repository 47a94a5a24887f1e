// An engine that can restart with another metadata file: it is closed, the file is replaced, and it
// is opened again at the same address. If that fails, it continues with the previous file.
import { formatRfc3339, messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { LogSink } from './observability/log-hub.ts';
import { swapRestored, undoRestored } from './store/restore-upload.ts';
import type { EngineService } from './engine-service.ts';

/** The outcome of the last restore since the process began. */
export type RestoreState =
  | { readonly state: 'none' }
  | { readonly state: 'restarting' }
  | { readonly state: 'done'; readonly time: string }
  | { readonly state: 'failed'; readonly time: string; readonly error: string };

/** The restore functions for the API. */
export type RestoreControl = {
  readonly state: () => RestoreState;
  /** Starts the restart with the uploaded file. */
  readonly restart: () => void;
};

export type RestartableOptions = {
  readonly directory: string;
  readonly clock: Clock;
  readonly log: LogSink;
  /** Opens the engine; `url` is its previous address. */
  readonly open: (control: RestoreControl, url: string | undefined) => Promise<EngineService>;
};

export class RestartableEngine implements EngineService {
  readonly #options: RestartableOptions;
  readonly #control: RestoreControl;
  #state: RestoreState = { state: 'none' };
  #engine: EngineService | undefined;
  #restarting: Promise<void> | undefined;
  #isClosing = false;
  #url = '';

  private constructor(options: RestartableOptions) {
    this.#options = options;
    this.#control = {
      state: () => this.#state,
      restart: () => {
        this.#state = { state: 'restarting' };
        // If it can be opened with neither file the process ends, and with it the service.
        this.#restarting = this.#restart();
      },
    };
  }

  static async open(options: RestartableOptions): Promise<RestartableEngine> {
    const engine = new RestartableEngine(options);
    await engine.#open();
    return engine;
  }

  get url(): string {
    return this.#url;
  }

  async reload(): Promise<void> {
    await this.#restarting;
    await this.#engine?.reload();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#restarting;
    await this.#engine?.close();
  }

  async #open(): Promise<void> {
    const before = this.#url === '' ? undefined : this.#url;
    this.#engine = await this.#options.open(this.#control, before);
    this.#url = this.#engine.url;
  }

  async #restart(): Promise<void> {
    const { clock, directory, log } = this.#options;
    await this.#engine?.close();
    this.#engine = undefined;
    swapRestored(directory);
    const time = formatRfc3339(clock.now());
    try {
      if (!this.#isClosing) await this.#open();
      this.#state = { state: 'done', time };
      log.info({ directory }, 'the metadata of a backup is in use');
    } catch (error) {
      log.error({ err: error }, 'the engine does not start with the backup; it takes up its own');
      undoRestored(directory);
      await this.#open();
      this.#state = { state: 'failed', time, error: messageOf(error) };
    }
  }
}
