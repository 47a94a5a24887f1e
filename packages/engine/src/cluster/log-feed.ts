// Feeds a stream task of a cluster with the points of the log of points, each once. A task that
// continues from a saved state first receives the points that were appended since, in virtual time,
// as after any restart (docs/adr/0011-catch-up.md). It reads them from the log, which has all of
// them in order with their arrival times.
import { assert, deferred, messageOf } from '@tidemark/core';
import type { Clock, Deferred, Timestamp } from '@tidemark/core';
import { policyText } from '@tidemark/runtime';
import type { BatchTaker, Due, PointBatch } from '@tidemark/runtime';
import type { PointConsumer, PointRouter, Route } from '../ingest/point-router.ts';
import type { Logger } from '../observability/log-hub.ts';
import type { Dbrp } from '../store/records.ts';
import type { SavedUnit, SourceSetup } from '../tasks/executor.ts';
import type { Unit } from '../tasks/unit.ts';
import type { Resumption, TaskSource } from '../tasks/task-source.ts';
import type { PointLog } from '../shared-log/point-log.ts';

export type LogFeedParts = {
  readonly points: PointLog;
  readonly router: PointRouter;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Number of the last record that the saved state of a task contains, or behind which it began.
   */
  readonly savedSequence: (unit: SavedUnit) => number | undefined;
};

export class LogFeed implements TaskSource, PointConsumer {
  readonly #parts: LogFeedParts;
  readonly #unit: Unit;
  readonly #wanted: ReadonlySet<string>;
  readonly #route: Route;
  /** Number of the last record that the task was given. */
  #sequence: number;
  /** Number of the last record before those that the task gets while no state of it is saved. */
  readonly begin: number;
  readonly begun: Timestamp;
  #isRerun = false;
  #held: Deferred | undefined;
  /** The task is about to be started again. */
  #isSuspended = false;
  #suspendedAt: number | undefined;
  #stopped = new AbortController();
  #run = new AbortController();
  /** Records after the state of the task that are gone. */
  readonly missing: number;
  /**
   * The task gets new records as they arrive. Otherwise it reads earlier ones, or no longer can.
   */
  #isUpToDate = true;
  #reading: Promise<void> = Promise.resolve();

  constructor(
    parts: LogFeedParts,
    unit: Unit,
    setup: SourceSetup & { readonly dbrps: readonly Dbrp[] },
  ) {
    const { router, savedSequence } = parts;
    this.#parts = parts;
    this.#unit = unit;
    this.#wanted = new Set(setup.dbrps.map(({ db, rp }) => policyText(db, rp)));
    const saved = savedSequence(unit);
    this.begin = this.#within(saved);
    this.#sequence = this.begin;
    this.begun = setup.from?.rerun.begun ?? parts.clock.now();
    this.missing = saved === undefined ? 0 : parts.points.missingAfter(saved);
    if (this.missing > 0 && saved !== undefined) this.#tellMissing(saved);
    this.#isRerun = setup.from !== undefined;
    this.#route = router.add(setup.dbrps, this);
    unit.task.onError(() => this.#held?.resolve());
    if (this.#isRerun || this.#sequence < parts.points.dispatched) this.#read();
  }

  /** Number of the last record that the task has, or does not need. */
  get sequence(): number {
    const isUpToDate = !this.isReading && this.#route.isIdle();
    return isUpToDate ? Math.max(this.#sequence, this.#parts.points.dispatched) : this.#sequence;
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

  get isReading(): boolean {
    return this.#held !== undefined || !this.#isUpToDate;
  }

  ready(): Promise<void> | undefined {
    const { task } = this.#unit;
    return this.#held === undefined || task.error !== undefined ? task.ready() : this.#held.promise;
  }

  processed(): Promise<void> | undefined {
    return this.isReading ? undefined : this.#unit.task.processed();
  }

  push(batch: PointBatch): void {
    if (!this.isReading) this.#give(batch);
  }

  fallBehind(): void {
    this.#read();
  }

  hold(): void {
    if (this.#held !== undefined) return;
    this.#sequence = this.sequence;
    this.#held = deferred();
  }

  /** Has no effect if the task is being restarted, which ends the hold. */
  release(): void {
    if (!this.#isSuspended) this.#open();
  }

  suspend(): void {
    this.#end();
    this.#run.abort();
    this.#isSuspended = true;
    // Position of the state that the task starts with; a newer one may be stored before it runs.
    this.#suspendedAt = this.#parts.savedSequence(this.#unit);
    this.hold();
  }

  resume(from: Resumption | undefined): void {
    this.#run = new AbortController();
    this.#isSuspended = false;
    this.#sequence = this.#within(this.#suspendedAt ?? this.begin);
    this.#isRerun = from !== undefined;
    this.#read();
    this.#open();
  }

  /** Points that the task has not received stay in the log for the next leader. */
  async settle(): Promise<void> {
    this.hold();
    this.#end();
    this.#route.drop();
    await this.#reading;
  }

  async close(): Promise<void> {
    this.#end();
    this.#held?.resolve();
    await this.#reading;
    await this.#route.close();
  }

  /** Ends the read in progress; the next one begins with its own signal. */
  #end(): void {
    this.#stopped.abort();
    this.#stopped = new AbortController();
  }

  #open(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.resolve();
    if (this.#isUpToDate && this.#sequence < this.#parts.points.dispatched) this.#read();
  }

  /** Reads what the task has missed, after the read in progress. */
  #read(): void {
    const { signal } = this.#stopped;
    this.#isUpToDate = false;
    this.#reading = this.#reading
      .then(() => this.#readMissed(signal))
      .catch((error: unknown) => this.#tellFailure(error));
  }

  async #readMissed(signal: AbortSignal): Promise<void> {
    const { points } = this.#parts;
    while (this.#sequence < points.dispatched) {
      const through = points.dispatched;
      const isGiven = await points.again({
        first: this.#sequence + 1,
        through,
        signal,
        ready: () => this.ready(),
        give: (batch) => this.#giveMissed(batch),
      });
      if (!isGiven) return;
      // The state contains the records that are purged.
      this.#sequence = Math.max(this.#sequence, through);
    }
    // At this moment nothing is missing, and the next records are pushed.
    if (!signal.aborted) this.#goLive();
  }

  #giveMissed(batch: PointBatch): void {
    assert(batch.record !== undefined, 'batches of the log have numbers');
    if (this.#wanted.has(policyText(batch.database, batch.retentionPolicy))) this.#give(batch);
    else this.#sequence = batch.record;
  }

  #give(batch: PointBatch): void {
    const { record } = batch;
    if (record !== undefined) {
      if (record <= this.#sequence) return;
      this.#sequence = record;
    }
    const { task } = this.#unit;
    if (this.#isRerun) task.pushDue(batch, dueOf(batch));
    else task.push(batch);
  }

  /** A log that was lost with its coordinator begins again, below the saved position. */
  #within(saved: number | undefined): number {
    const { last } = this.#parts.points;
    return saved === undefined ? last : Math.min(saved, last);
  }

  /** From now on the task gets new records as they arrive, and its time is the machine's. */
  #goLive(): void {
    this.#isUpToDate = true;
    if (!this.#isRerun) return;
    this.#isRerun = false;
    const { task } = this.#unit;
    task.advanceTo(this.#parts.clock.now());
    task.goLive();
  }

  #tellMissing(saved: number): void {
    const [first, last] = [saved + 1, saved + this.missing];
    const what = 'the log of points lacks records that came after the state of the task';
    this.#parts.log('error', what, { task: this.#unit.unit, first, last });
  }

  #tellFailure(error: unknown): void {
    this.#goLive();
    this.#parts.log('error', 'failed to read the log of points again', {
      task: this.#unit.id,
      err: messageOf(error),
    });
  }
}

/** The arrival time, so that timers fire between the same records as the first time. */
function dueOf({ arrived }: PointBatch): Due {
  return { at: arrived ?? 0n };
}
