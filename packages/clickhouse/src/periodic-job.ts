// Runs work periodically and logs its failures: the first of several in a row, and the recovery. An
// unreachable cluster is a warning, because the next run retries; any other failure is a defect and
// is logged as an error.
import { messageOf, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { StorageLog } from '@tidemark/storage-api';

/** Logs the failures of work that is retried. */
export class FailureLog {
  readonly #log: StorageLog;
  readonly #what: string;
  /** The failure that was logged last; `undefined` after a success. */
  #logged: string | undefined;

  /** `what` describes the work and follows "failed to" in messages. */
  constructor(log: StorageLog, what: string) {
    this.#log = log;
    this.#what = what;
  }

  /** Logs a failure, unless it is the same as the last one. */
  failed(error: unknown): void {
    const isUnavailable = error instanceof Unavailable;
    const kind = isUnavailable ? 'unavailable' : messageOf(error);
    if (kind === this.#logged) return;
    this.#logged = kind;
    if (isUnavailable)
      this.#log('warn', `failed to ${this.#what}: the cluster is unreachable; will be retried`, {
        error,
      });
    else this.#log('error', `failed to ${this.#what}; will be retried`, { error });
  }

  /** Logs the recovery, if a failure was logged before. */
  succeeded(): void {
    if (this.#logged === undefined) return;
    this.#logged = undefined;
    this.#log('info', `the next attempt to ${this.#what} has succeeded`);
  }
}

export type PeriodicJobOptions = {
  readonly clock: Clock;
  readonly log: StorageLog;
  /** See `FailureLog`. */
  readonly what: string;
  /** Pause between runs; the first run starts at once. */
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

  /** Starts the next run as soon as the current one has ended. */
  runNow(): void {
    this.#pause.abort(new Error('there is work'));
  }

  /** Resolves when the last run has ended. */
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
      // Both signals end the pause early.
      const pause = AbortSignal.any([signal, this.#pause.signal]);
      await clock.sleep(everyMs, pause).catch(() => undefined);
    }
  }
}
