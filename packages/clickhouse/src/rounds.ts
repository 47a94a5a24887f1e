// Work that is done again and again while the service runs, and what is told of its failures: the
// first of a row and its end. That the cluster is away is for the next round; anything else is a
// defect, and looks like one.
import { messageOf, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { StorageLog } from '@tidemark/storage';

/** Failures of one piece of work, which is tried again by itself. */
export class Failures {
  readonly #log: StorageLog;
  readonly #what: string;
  /** What was told last; `undefined` when all is well. */
  #told: string | undefined;

  /** `what` is the work, as it stands behind "failed to". */
  constructor(log: StorageLog, what: string) {
    this.#log = log;
    this.#what = what;
  }

  /** Told once, until it is over or something else fails. */
  failed(error: unknown): void {
    const isAway = error instanceof Unavailable;
    const kind = isAway ? 'away' : messageOf(error);
    if (kind === this.#told) return;
    this.#told = kind;
    if (isAway)
      this.#log('warn', `failed to ${this.#what}: the cluster is away; tried again`, { error });
    else this.#log('error', `failed to ${this.#what}; tried again`, { error });
  }

  /** Told when it had failed. */
  succeeded(): void {
    if (this.#told === undefined) return;
    this.#told = undefined;
    this.#log('info', `the next attempt to ${this.#what} has succeeded`);
  }
}

export type RoundsOptions = {
  readonly clock: Clock;
  readonly log: StorageLog;
  /** As for `Failures`. */
  readonly what: string;
  /** From the end of one to the next; the first begins at once. */
  readonly everyMs: number;
  readonly work: () => Promise<void>;
};

export class Rounds {
  readonly #options: RoundsOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: RoundsOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Resolves when the last one is over. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('stopping'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, log, what, everyMs, work } = this.#options;
    const { signal } = this.#stop;
    const failures = new Failures(log, what);
    while (!signal.aborted) {
      try {
        await work();
        failures.succeeded();
      } catch (error) {
        failures.failed(error);
      }
      // Ends with the signal, which is what it is for.
      await clock.sleep(everyMs, signal).catch(() => undefined);
    }
  }
}
