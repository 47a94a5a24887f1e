// Feeds a stream task of a cluster: points as the log of points has them, each once. A task that
// goes on from a saved state is first given what has come since, in virtual time, as after any
// restart (docs/adr/0011-catch-up.md), but from the log, which has all of it, in its order and with
// the times at which it came.
import { assert, messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { BatchTaker, Due, PointBatch } from '@tidemark/runtime';
import type { PointConsumer, PointRouter, Route } from '../ingest/point-router.ts';
import type { Logger } from '../observability/log-hub.ts';
import { opening } from '../opening.ts';
import type { Opening } from '../opening.ts';
import type { Dbrp } from '../store/records.ts';
import type { SourceSetup } from '../tasks/executor.ts';
import type { Unit } from '../tasks/unit.ts';
import type { Resumption, TaskSource } from '../tasks/task-source.ts';
import type { PointLog } from './point-log.ts';

export type LogFeedParts = {
  readonly points: PointLog;
  readonly router: PointRouter;
  readonly clock: Clock;
  readonly log: Logger;
  /** Number of the last record that the saved state of a task contains. */
  readonly savedSequence: (unit: string) => number | undefined;
};

export class LogFeed implements TaskSource, PointConsumer {
  readonly #parts: LogFeedParts;
  readonly #unit: Unit;
  readonly #wanted: ReadonlySet<string>;
  readonly #route: Route;
  /** Number of the last record that the task was given. */
  #sequence: number;
  #isRerun = false;
  #held: Opening | undefined;
  /** The task is about to be started again. */
  #isSuspended = false;
  #suspendedAt: number | undefined;
  /** Batches that were on their way when the task was held. */
  #strays: PointBatch[] = [];
  #stopped = new AbortController();
  #run = new AbortController();
  #running: Promise<void> | undefined;

  constructor(
    parts: LogFeedParts,
    unit: Unit,
    setup: SourceSetup & { readonly dbrps: readonly Dbrp[] },
  ) {
    const { router, savedSequence } = parts;
    this.#parts = parts;
    this.#unit = unit;
    this.#wanted = new Set(setup.dbrps.map(({ db, rp }) => placeOf(db, rp)));
    const saved = setup.from === undefined ? undefined : savedSequence(unit.unit);
    this.#sequence = this.#within(saved);
    this.#isRerun = setup.from !== undefined;
    this.#route = router.add(setup.dbrps, this);
    unit.task.onError(() => this.#held?.resolve());
  }

  /** Number of the last record that the task has, or has not wanted. */
  get sequence(): number {
    const isIdle = this.#held === undefined && this.#route.isIdle();
    return isIdle ? Math.max(this.#sequence, this.#parts.points.dispatched) : this.#sequence;
  }

  get run(): AbortSignal {
    return this.#run.signal;
  }

  get taker(): BatchTaker | undefined {
    return this.#unit.task.taker;
  }

  get error(): string | undefined {
    return this.#unit.task.error;
  }

  ready(): Promise<void> | undefined {
    const { task } = this.#unit;
    return this.#held === undefined || task.error !== undefined ? task.ready() : this.#held.promise;
  }

  processed(): Promise<void> | undefined {
    return this.#held === undefined ? this.#unit.task.processed() : undefined;
  }

  push(batch: PointBatch): void {
    if (this.#held !== undefined) {
      this.#strays.push(batch);
      return;
    }
    const sequence = batch.record;
    // Points that tasks write themselves are not in the log.
    if (sequence !== undefined) {
      if (sequence <= this.#sequence) return;
      this.#sequence = sequence;
    }
    const { task } = this.#unit;
    if (this.#isRerun) task.pushDue(batch, dueOf(batch));
    else task.push(batch);
  }

  /** The task has been given everything that was there: its time is the machine's from now on. */
  async caughtUp(): Promise<void> {
    await this.#route.drained();
    // One that is being started again goes live when it was given everything again.
    if (!this.#isSuspended && this.#running === undefined) this.#goLive();
  }

  hold(): void {
    if (this.#held !== undefined) return;
    this.#sequence = this.sequence;
    this.#held = opening();
  }

  /** Unless the task is being started again, or given what it has missed, which end the hold. */
  release(): void {
    if (!this.#isSuspended && this.#running === undefined) this.#open();
  }

  suspend(): void {
    this.#stopped.abort();
    this.#stopped = new AbortController();
    this.#run.abort();
    this.#isSuspended = true;
    // Of the state that it is started with; another one may be stored before it runs.
    this.#suspendedAt = this.#parts.savedSequence(this.#unit.unit);
    this.hold();
  }

  resume(from: Resumption | undefined): void {
    const { signal } = this.#stopped;
    this.#run = new AbortController();
    this.#isSuspended = false;
    const through = this.#parts.points.dispatched;
    this.#sequence = this.#within(from === undefined ? undefined : this.#suspendedAt);
    this.#isRerun = from !== undefined;
    const running = (this.#running ?? Promise.resolve())
      .then(() => this.#again(through, signal))
      .catch((error: unknown) => this.#tellFailure(error))
      .finally(() => {
        if (this.#running === running) this.#running = undefined;
        if (!signal.aborted) this.#open();
      });
    this.#running = running;
  }

  async settle(): Promise<void> {
    await this.#running;
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    this.#open();
    await this.#route.close();
  }

  /** Gives the task what it was given before its thread failed, as far as its state has it not. */
  async #again(through: number, signal: AbortSignal): Promise<void> {
    const { task } = this.#unit;
    await this.#parts.points.again({
      first: this.#sequence + 1,
      through,
      signal,
      ready: () => task.ready(),
      give: (batch) => {
        assert(batch.record !== undefined, 'batches of the log have numbers');
        this.#sequence = batch.record;
        if (this.#wanted.has(placeOf(batch.database, batch.retentionPolicy)))
          task.pushDue(batch, dueOf(batch));
      },
    });
    if (!signal.aborted) this.#goLive();
  }

  /** A log that was lost with its coordinator begins anew, below what was saved. */
  #within(saved: number | undefined): number {
    const { dispatched, last } = this.#parts.points;
    return saved === undefined ? dispatched : Math.min(saved, last);
  }

  #goLive(): void {
    if (!this.#isRerun) return;
    this.#isRerun = false;
    const { task } = this.#unit;
    task.advanceTo(this.#parts.clock.now());
    task.goLive();
  }

  #open(): void {
    const held = this.#held;
    this.#held = undefined;
    const strays = this.#strays;
    this.#strays = [];
    for (const batch of strays) this.push(batch);
    held?.resolve();
  }

  #tellFailure(error: unknown): void {
    this.#goLive();
    this.#parts.log('error', 'failed to read the log of points again', {
      task: this.#unit.id,
      err: messageOf(error),
    });
  }
}

/** When it was there, so that timers fire between the records that they fired between then. */
function dueOf({ arrived }: PointBatch): Due {
  return { at: arrived ?? 0n };
}

function placeOf(database: string, retentionPolicy: string): string {
  return `${database}\u0000${retentionPolicy}`;
}
