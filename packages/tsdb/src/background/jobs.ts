// Background work: named jobs that repeat, can be awaited and stopped, and whose failures are
// logged and counted.
import type { Clock } from '@tidemark/core';
import type { Logger } from 'pino';

export type Job = {
  readonly name: string;
  readonly intervalMs: number;
  /** Run once before the first wait. */
  readonly runsAtStart: boolean;
  readonly run: (signal: AbortSignal) => Promise<void>;
};

export class BackgroundJobs {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];
  #failures = 0;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Failed runs of all jobs. */
  get failures(): number {
    return this.#failures;
  }

  /** Repeats a job: the wait begins when a run has ended, so runs never overlap. */
  start(job: Job): void {
    this.#loops.push(this.#loop(job));
  }

  async #loop(job: Job): Promise<void> {
    const { signal } = this.#stop;
    if (job.runsAtStart) await this.#run(job);
    while (!signal.aborted) {
      try {
        await this.#clock.sleep(job.intervalMs, signal);
      } catch {
        return; // Stopped.
      }
      await this.#run(job);
    }
  }

  async #run(job: Job): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    try {
      await job.run(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#failures++;
      this.#log.error({ err: error, job: job.name }, 'background job failed');
    }
  }

  /** Ends all jobs; resolves when the last run has ended. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('stopping'));
    await Promise.all(this.#loops);
  }
}
