// Work that is repeated while the service runs, and the log of its failures: the first of several
// in a row, and their end. The next run deals with a cluster that does not answer; any other
// failure is a defect and is logged as an error.
import { messageOf, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { StorageLog } from '@tidemark/storage';

/** Failures of one piece of work, which is tried again by itself. */
export class FailureLog {
  readonly #log: StorageLog;
  readonly #what: string;
  /** What was logged last; `undefined` when the last run has succeeded. */
  #logged: string | undefined;

  /** `what` is the work, as it stands behind "failed to". */
  constructor(log: StorageLog, what: string) {
    this.#log = log;
    this.#what = what;
  }

  /** Logs a failure once, until it is over or something else fails. */
  failed(error: unknown): void {
    const isUnavailable = error instanceof Unavailable;
    const kind = isUnavailable ? 'unavailable' : messageOf(error);
    if (kind === this.#logged) return;
    this.#logged = kind;
    if (isUnavailable)
      this.#log('warn', `failed to ${this.#what}: the cluster is away; tried again`, { error });
    else this.#log('error', `failed to ${this.#what}; tried again`, { error });
  }

  /** Logs the end of a failure. */
  succeeded(): void {
    if (this.#logged === undefined) return;
    this.#logged = undefined;
    this.#log('info', `the next attempt to ${this.#what} has succeeded`);
  }
}

export type PeriodicJobOptions = {
  readonly clock: Clock;
  readonly log: StorageLog;
  /** As for `FailureLog`. */
  readonly what: string;
  /** From the end of one run to the next; the first begins at once. */
  readonly everyMs: number;
  readonly work: () => Promise<void>;
};

export class PeriodicJob {
  readonly #options: PeriodicJobOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #pause = new AbortController();

  constructor(options: PeriodicJobOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** The next run begins as soon as the present one is over. */
  runNow(): void {
    this.#pause.abort(new Error('there is work'));
  }

  /** Resolves when the last run is over. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('stopping'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, log, what, everyMs, work } = this.#options;
    const { signal } = this.#stop;
    const failures = new FailureLog(log, what);
    while (!signal.aborted) {
      this.#pause = new AbortController();
      try {
        await work();
        failures.succeeded();
      } catch (error) {
        failures.failed(error);
      }
      // Ends early with either signal.
      const pause = AbortSignal.any([signal, this.#pause.signal]);
      await clock.sleep(everyMs, pause).catch(() => undefined);
    }
  }
}
