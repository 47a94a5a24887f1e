// Feeds a stream task with points of its databases from the router. After a restart, it first feeds
// the missed points from the database (docs/adr/0011-catch-up.md).
import { AppError, assert, formatRfc3339, Unavailable, untilAborted, within } from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import { ContainedPoints, policyText } from '@tidemark/runtime';
import { AnswerTooLarge } from '../database/clusters.ts';
import type { Clusters } from '../database/clusters.ts';
import type { SourceSetup } from '../tasks/executor.ts';
import type { Unit } from '../tasks/unit.ts';
import {
  CATCH_UP_PAGE_ROWS,
  QUERY_RETRY_DELAY_FIRST_MS,
  QUERY_RETRY_DELAY_MAX_MS,
} from '../limits.ts';
import type { LogLevel, Logger } from '../observability/log-hub.ts';
import type { PointRouter, Route } from '../ingest/point-router.ts';
import type { QuerySlots } from '../batch/query-slots.ts';
import type { Dbrp } from '../store/records.ts';
import { isCatchingUp, nanos } from '../tasks/task-source.ts';
import type { CatchUpConfig, Resumption, TaskSource } from '../tasks/task-source.ts';
import { LiveGate } from './live-gate.ts';
import { batchesOf, MissedPoints, wantedOf } from './missed-points.ts';
import type { MissedPoint, Range } from './missed-points.ts';
import { ReadPoints } from './read-points.ts';

export type StreamFeedParts = {
  readonly router: PointRouter;
  readonly clusters: Clusters;
  readonly slots: QuerySlots;
  readonly clock: Clock;
  readonly config: CatchUpConfig;
  /** Resolves when later writes to the database reach the router. */
  readonly linked: () => Promise<void>;
  readonly log: Logger;
};

const PAGE_NANOS_FIRST = 10_000_000_000n;
const PAGE_NANOS_MIN = 1_000_000n;
const PAGE_NANOS_MAX = 3_600_000_000_000n;

/** Why catching up ends early. */
const SUSPENDED = new Error('the task is started again');
const STOPPING = new Error('the engine stops');
const CLOSING = new Error('the task is stopped');

/** Starts to feed a task. */
export function startPoints(
  parts: StreamFeedParts,
  unit: Unit,
  setup: SourceSetup & { readonly dbrps: readonly Dbrp[] },
): TaskSource {
  if (isCatchingUp(parts.config, 'stream')) return new StreamFeed(parts, unit, setup);
  const route = parts.router.add(setup.dbrps, unit.task);
  return {
    suspend: () => undefined,
    resume: () => undefined,
    settle: () => Promise.resolve(),
    giveUp: () => {
      const droppedPoints = route.giveUp();
      if (droppedPoints === 0) return;
      const message = 'the task has not taken all of its points before the engine stopped';
      parts.log('error', message, { task: unit.id, droppedPoints });
    },
    close: () => route.close(),
  };
}

/** One pass of catching up. */
type Run = {
  readonly since: Timestamp;
  readonly missed: MissedPoints;
  readonly contained: ContainedPoints;
  readonly read: ReadPoints;
  readonly signal: AbortSignal;
};

class StreamFeed implements TaskSource {
  readonly #parts: StreamFeedParts;
  readonly #unit: Unit;
  readonly #setup: SourceSetup & { readonly dbrps: readonly Dbrp[] };
  readonly #gate: LiveGate;
  readonly #route: Route;
  #stopped = new AbortController();
  #running: Promise<void> | undefined;

  constructor(
    parts: StreamFeedParts,
    unit: Unit,
    setup: SourceSetup & { readonly dbrps: readonly Dbrp[] },
  ) {
    const { clock, router, config } = parts;
    this.#parts = parts;
    this.#unit = unit;
    this.#setup = setup;
    this.#gate = new LiveGate(unit.task, clock, nanos(config.catchUpLatenessMs));
    this.#route = router.add(setup.dbrps, this.#gate);
    this.resume(setup.from);
  }

  suspend(): void {
    this.#stopped.abort(SUSPENDED);
    this.#stopped = new AbortController();
    this.#gate.hold();
  }

  resume(from: Resumption | undefined): void {
    if (from === undefined) {
      this.#gate.goLive();
      return;
    }
    this.#gate.hold();
    const { signal } = this.#stopped;
    const running = (this.#running ?? Promise.resolve())
      .then(() => this.#catchUp(from, signal))
      .finally(() => {
        if (this.#running === running) this.#running = undefined;
      });
    this.#running = running;
  }

  async settle(deadlineMs: number): Promise<void> {
    if (this.#running === undefined) return;
    // An unreachable database is not awaited.
    if (this.#unit.problem === undefined) {
      await within(this.#parts.clock, deadlineMs, this.#running);
    }
    if (this.#running === undefined) return;
    this.#gate.drop();
    this.#stopped.abort(STOPPING);
    await this.#running;
    this.#tellRest(this.#gate.droppedCount);
  }

  giveUp(): void {
    const droppedPoints = this.#route.giveUp();
    if (droppedPoints > 0) this.#tellRest(droppedPoints);
  }

  async close(): Promise<void> {
    this.#stopped.abort(CLOSING);
    await this.#running;
    if (this.#gate.isHeld) this.#gate.goLive();
    await this.#route.close();
  }

  async #catchUp(from: Resumption, signal: AbortSignal): Promise<void> {
    const { clock, clusters, config } = this.#parts;
    const { task, pipeline } = this.#unit;
    const { since } = from.rerun;
    const startedMs = clock.monotonicMs();
    const before = this.#unit.caughtUpCount ?? 0;
    this.#tellStart(from);
    const run: Run = {
      since,
      missed: new MissedPoints(clusters, wantedOf(pipeline, this.#setup.dbrps)),
      contained: new ContainedPoints(from.position),
      read: new ReadPoints(since, clock.now() - nanos(config.catchUpLatenessMs)),
      signal,
    };
    let ahead: readonly MissedPoint[] = [];
    try {
      ahead = await this.#readAll(run);
    } catch (error) {
      if (!signal.aborted) {
        if (!(error instanceof AppError)) throw error;
        this.#gaveUp(error.message);
      }
    }
    this.#unit.problem = undefined;
    if (isSuperseded(signal)) return;
    this.#gate.drain(run.read);
    await untilAborted(this.#route.drained(), signal);
    if (isSuperseded(signal)) return;
    if (signal.aborted) await this.#route.drained();
    task.advanceTo(clock.now());
    task.goLive();
    for (const batch of batchesOf(ahead)) task.push(batch);
    this.#gate.goLive();
    this.#log('info', 'caught up', {
      points: (this.#unit.caughtUpCount ?? 0) - before,
      tookMs: Math.round(clock.monotonicMs() - startedMs),
    });
  }

  /** Gives the task all missed points up to now. Returns those with future times. */
  async #readAll(run: Run): Promise<readonly MissedPoint[]> {
    const { clock, linked } = this.#parts;
    await this.#repeating(run, () => linked());
    // From here on nothing is missed: later writes also come from the stream.
    const end = clock.now();
    const start = run.since > end ? run.since : end;
    const last = await this.#page(run, { start, stop: undefined });
    let pageNanos = PAGE_NANOS_FIRST;
    for (let at = run.since; at < end && this.#unit.task.error === undefined;) {
      const stop = at + pageNanos < end ? at + pageNanos : end;
      try {
        const points = await this.#page(run, { start: at, stop });
        await this.#give(run, points);
        run.read.readTo(stop);
        pageNanos = nextPageNanos(pageNanos, points.length);
        at = stop;
      } catch (error) {
        if (!(error instanceof AnswerTooLarge) || pageNanos <= PAGE_NANOS_MIN) throw error;
        pageNanos /= 8n;
      }
    }
    const now = clock.now();
    await this.#give(
      run,
      last.filter(({ time }) => time <= now),
    );
    return this.#unknown(
      run,
      last.filter(({ time }) => time > now),
    );
  }

  #page(run: Run, range: Range): Promise<readonly MissedPoint[]> {
    return this.#repeating(run, () =>
      this.#parts.slots.run((signal) => run.missed.read(range, signal), run.signal),
    );
  }

  async #give(run: Run, points: readonly MissedPoint[]): Promise<void> {
    const { task } = this.#unit;
    for (const batch of batchesOf(this.#unknown(run, points))) {
      // A task that is stuck may never be.
      await untilAborted(task.ready(), run.signal);
      run.signal.throwIfAborted();
      task.pushDue(batch, { offset: 0n });
    }
  }

  /** Points that the state of the task does not contain. All of them are recorded as read. */
  #unknown({ read, contained }: Run, points: readonly MissedPoint[]): readonly MissedPoint[] {
    const unknown = points.filter(({ dbrp, series, time }) => {
      read.add(policyText(dbrp.db, dbrp.rp), series, time);
      const newest = contained.of(dbrp.db, dbrp.rp).get(series);
      return newest === undefined || time > newest;
    });
    this.#unit.caughtUpCount = (this.#unit.caughtUpCount ?? 0) + unknown.length;
    return unknown;
  }

  /** Retries while the database is unreachable, until that takes too long. */
  async #repeating<T>({ signal }: Run, work: () => Promise<T>): Promise<T> {
    const { clock, config } = this.#parts;
    const startedMs = clock.monotonicMs();
    let delayMs = QUERY_RETRY_DELAY_FIRST_MS;
    for (;;) {
      try {
        const result = await untilAborted(work(), signal);
        signal.throwIfAborted();
        this.#unit.problem = undefined;
        return result as T;
      } catch (error) {
        if (signal.aborted || !(error instanceof Unavailable)) throw error;
        if (clock.monotonicMs() - startedMs >= config.catchUpTimeoutMs) throw error;
        if (this.#unit.problem === undefined) {
          this.#log('warn', 'waits for the database to catch up', { err: error.message });
        }
        this.#unit.problem = `catching up: ${error.message}`;
        await clock.sleep(delayMs, signal);
        delayMs = Math.min(QUERY_RETRY_DELAY_MAX_MS, delayMs * 2);
      }
    }
  }

  #tellStart({ position, rerun }: Resumption): void {
    const { config } = this.#parts;
    this.#log('info', 'catching up', { from: formatRfc3339(rerun.since) });
    if (rerun.since <= position.time) return;
    this.#log('warn', 'missed more than is read again', {
      lastState: formatRfc3339(position.time),
      readFrom: formatRfc3339(rerun.since),
      setting: 'task.catch-up',
      settingMs: config.catchUpMs,
    });
  }

  #tellRest(droppedPoints: number): void {
    const message = 'stopped before it had caught up; the rest is read after the next start';
    this.#log('warn', message, { droppedPoints });
  }

  #gaveUp(reason: string): void {
    this.#setup.gaveUp(`gave up catching up: ${reason}`);
  }

  #log(level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#parts.log(level, message, { task: this.#unit.id, ...fields });
  }
}

/**
 * Another pass or start begins again; a task that is only stopped still gets the waiting points.
 */
function isSuperseded(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason !== CLOSING;
}

/** The length of the next page, so that it has about `CATCH_UP_PAGE_ROWS` points. */
function nextPageNanos(pageNanos: bigint, rows: number): bigint {
  assert(pageNanos > 0n, 'pages have a length');
  if (rows > CATCH_UP_PAGE_ROWS.value * 2)
    return pageNanos > PAGE_NANOS_MIN ? pageNanos / 2n : pageNanos;
  if (rows * 4 > CATCH_UP_PAGE_ROWS.value) return pageNanos;
  return pageNanos * 4n < PAGE_NANOS_MAX ? pageNanos * 4n : PAGE_NANOS_MAX;
}
