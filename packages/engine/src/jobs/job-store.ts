// Shared by recordings and replays: records on disk, live progress in memory, one run at a time per
// id.
import {
  Cancelled,
  Conflict,
  formatRfc3339,
  LimitExceeded,
  messageOf,
  parseRfc3339,
  Unavailable,
} from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { RUNNING_JOBS } from '../limits.ts';
import type { Table } from '../store/table.ts';
import type { JobStatus } from '../store/records.ts';

type JobRecord = {
  readonly id: string;
  readonly date: string;
  readonly error: string;
  readonly status: JobStatus;
  readonly progress: number;
};

/** The control of a running job. */
export type JobControl = {
  readonly signal: AbortSignal;
  /** Between 0 and 1; for display only. */
  progress(done: number): void;
};

type Running = {
  readonly abort: AbortController;
  progress: number;
  /** Why its end cannot be stored yet; empty if it can. */
  storeError: string;
  done: Promise<void>;
};

/** Pause before the end of a job is stored again after a failure. */
const RETRY_MS = 1000;

/** Recordings or replays, with a limit on how many run at a time. `kind` appears in error texts. */
export class JobStore<R extends JobRecord> {
  readonly #table: Table<R>;
  readonly #clock: Clock;
  readonly #kind: string;
  readonly #runningMax: number;
  readonly #redact: (text: string) => string;
  readonly #running = new Map<string, Running>();

  constructor(
    table: Table<R>,
    clock: Clock,
    {
      kind,
      runningMax,
      redact,
    }: {
      readonly kind: string;
      readonly runningMax: number;
      /** Hides secrets in stored errors. */
      readonly redact: (text: string) => string;
    },
  ) {
    this.#redact = redact;
    this.#runningMax = runningMax;
    this.#table = table;
    this.#clock = clock;
    this.#kind = kind;
  }

  /** Jobs that ran when the engine ended have failed. */
  async open(): Promise<void> {
    const interrupted = [...this.#table.values()].filter((record) => record.status === 'running');
    await this.#table.change(
      interrupted.map((record) => ({
        id: record.id,
        value: { ...record, status: 'failed', progress: 1, error: 'unexpected tidemark shutdown' },
      })),
    );
  }

  get(id: string): R | undefined {
    const record = this.#table.get(id);
    const running = this.#running.get(id);
    if (record?.status !== 'running' || running === undefined) return record;
    return { ...record, progress: running.progress, error: running.storeError };
  }

  /** Newest first; of one instant by id, backwards. */
  list(): readonly R[] {
    return [...this.#table.values()]
      .map((stored) => this.get(stored.id) ?? stored)
      .map((record) => ({ record, time: parseRfc3339(record.date) ?? 0n }))
      .sort((a, b) => {
        if (a.time !== b.time) return a.time < b.time ? 1 : -1;
        return a.record.id < b.record.id ? 1 : -1;
      })
      .map(({ record }) => record);
  }

  /**
   * Stores a running record and starts its work. The result of the work becomes part of the record
   * when it ends; an exception becomes its error.
   */
  async start(record: R, work: (control: JobControl) => Promise<Partial<R>>): Promise<void> {
    const isTaken = this.#running.has(record.id) || this.#table.has(record.id);
    if (isTaken) throw new Conflict(`${this.#kind} ${record.id} already exists`);
    if (this.#running.size >= this.#runningMax) {
      const { setting } = RUNNING_JOBS;
      throw new LimitExceeded(
        `too many ${this.#kind}s are running: ${this.#runningMax} may; wait for one to end, or raise ${setting}`,
        setting,
      );
    }
    const running: Running = {
      abort: new AbortController(),
      progress: 0,
      storeError: '',
      done: Promise.resolve(),
    };
    this.#running.set(record.id, running);
    try {
      await this.#table.put(record.id, record);
    } catch (error) {
      this.#running.delete(record.id);
      throw error;
    }
    running.done = this.#run(record, running, work);
  }

  async #run(
    record: R,
    running: Running,
    work: (control: JobControl) => Promise<Partial<R>>,
  ): Promise<void> {
    let end: Partial<R>;
    let error = '';
    try {
      end = await work({
        signal: running.abort.signal,
        progress: (done) => {
          running.progress = Math.min(0.99, Math.max(running.progress, done));
        },
      });
    } catch (cause) {
      // The record has the reason.
      end = {};
      error = this.#redact(messageOf(cause));
    }
    if (running.abort.signal.reason !== DELETED) {
      const date = formatRfc3339(this.#clock.now());
      const status: JobStatus = error === '' ? 'finished' : 'failed';
      await this.#storeEnd({ ...record, ...end, date, error, status, progress: 1 }, running);
    }
    this.#running.delete(record.id);
  }

  // An end is not shown before it is on disk, because a kill would undo it. On a full disk the job
  // keeps running, with the reason as its error, until there is room. Stopping the job or the
  // engine does not wait for that: the next start finds the record as that of an interrupted job.
  async #storeEnd(end: R, running: Running): Promise<void> {
    for (;;) {
      try {
        await this.#table.put(end.id, end, { isEnd: true });
        return;
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        running.storeError = error.message;
      }
      try {
        await this.#clock.sleep(RETRY_MS, running.abort.signal);
      } catch {
        // Stopped.
        return;
      }
    }
  }

  /** Stops a job and deletes its record. */
  async delete(id: string): Promise<void> {
    const running = this.#running.get(id);
    running?.abort.abort(DELETED);
    await running?.done;
    await this.#table.remove(id);
  }

  /** Stops all jobs, which fail. */
  async close(): Promise<void> {
    const all = [...this.#running.values()];
    for (const running of all) running.abort.abort(new Cancelled('unexpected tidemark shutdown'));
    await Promise.all(all.map((running) => running.done));
  }
}

const DELETED = new Cancelled('deleted');
