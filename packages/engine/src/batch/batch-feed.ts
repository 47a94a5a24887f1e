// Runs the queries of one batch task: every query node has its schedule, and the task receives
// results in the order of the ticks. After a restart, the queries that were missed run first, as
// configured (docs/adr/0011-catch-up.md).
import { AppError, formatRfc3339, messageOf, Unavailable } from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import type { QueryResultSeries } from '@tidemark/runtime';
import type { Clusters } from '../database/clusters.ts';
import { missedTicks, rangeOf } from '../database/schedule.ts';
import type { Schedule } from '../database/schedule.ts';
import type { SourceSetup } from '../tasks/executor.ts';
import type { Unit } from '../tasks/unit.ts';
import {
  QUERY_RETRY_COUNT,
  QUERY_RETRY_DELAY_FIRST_MS,
  QUERY_RETRY_DELAY_MAX_MS,
} from '../limits.ts';
import type { Logger } from '../observability/log-hub.ts';
import { queryNodesOf } from './query-nodes.ts';
import type { QueryNode } from './query-nodes.ts';
import type { CatchUpConfig, Resumption, TaskSource } from '../tasks/task-source.ts';

export type BatchFeedOptions = {
  readonly clusters: Clusters;
  readonly clock: Clock;
  readonly config: CatchUpConfig;
  readonly log: Logger;
  /** Queries one range of a node. Rejects with `Unavailable` if a retry may help. */
  readonly query: (
    node: QueryNode,
    range: { readonly start: Timestamp; readonly stop: Timestamp },
    signal: AbortSignal,
  ) => Promise<readonly QueryResultSeries[]>;
};

type Asked = {
  readonly node: QueryNode;
  readonly tick: Timestamp;
  /** Whether a failed query is retried after this many attempts; the next tick queries anyway. */
  readonly canRepeat: (attempts: number) => boolean;
  readonly signal: AbortSignal;
};

export class BatchFeed implements TaskSource {
  readonly #options: BatchFeedOptions;
  readonly #unit: Unit;
  readonly #setup: SourceSetup;
  readonly #nodes: readonly QueryNode[];
  readonly #problems = new Map<string, string>();
  #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: BatchFeedOptions, unit: Unit, setup: SourceSetup) {
    this.#options = options;
    this.#unit = unit;
    this.#setup = setup;
    this.#nodes = queryNodesOf(unit.pipeline);
    this.#start(setup.from);
  }

  suspend(): void {
    // Without missed runs the schedule continues: the next answer goes to the restarted task.
    if (this.#options.config.missedRuns === 'skip') return;
    this.#stopped.abort();
    this.#stopped = new AbortController();
  }

  resume(from: Resumption | undefined): void {
    if (this.#options.config.missedRuns !== 'skip') this.#start(from);
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  /** Stops querying and waits for the answer in progress. */
  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  #start(from: Resumption | undefined): void {
    const { signal } = this.#stopped;
    this.#running = this.#running.then(() => this.#run(from, signal));
  }

  async #run(from: Resumption | undefined, signal: AbortSignal): Promise<void> {
    const served = from === undefined ? undefined : await this.#makeUp(from, signal);
    await Promise.all(this.#nodes.map((node) => this.#loop(node, served?.get(node), signal)));
  }

  /**
   * Makes the queries that were due since the state of the task was saved. Returns the last tick of
   * each node.
   */
  async #makeUp(
    { position }: Resumption,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<QueryNode, Timestamp>> {
    const { clock, config, log } = this.#options;
    const { task, id } = this.#unit;
    const stops = new Map(position.queries);
    const served = new Map<QueryNode, Timestamp>();
    const due: { readonly node: QueryNode; readonly tick: Timestamp }[] = [];
    let skippedCount = 0;
    for (const node of this.#nodes) {
      const stop = stops.get(node.name);
      const last = stop === undefined ? position.begun : stop + node.options.offsetNanos;
      const countMax = config.missedRuns === 'last' ? 1 : config.missedRunsLimit;
      const range = { start: last, stop: clock.now() };
      const { ticks, count } = missedTicks(node.schedule, range, countMax);
      served.set(node, ticks.at(-1) ?? last);
      skippedCount += count - ticks.length;
      for (const tick of ticks) due.push({ node, tick });
    }
    due.sort((a, b) => (a.tick < b.tick ? -1 : a.tick > b.tick ? 1 : 0));
    const from = formatRfc3339(position.time);
    log('info', 'makes up for missed runs', { task: id, from, runs: due.length, skippedCount });
    const deadlineMs = clock.monotonicMs() + config.catchUpTimeoutMs;
    const canRepeat = (): boolean => clock.monotonicMs() < deadlineMs;
    for (const { node, tick } of due) {
      if (signal.aborted || task.error !== undefined) break;
      task.advanceTo(tick);
      const isServed = await this.#ask({ node, tick, canRepeat, signal });
      if (isServed) this.#unit.caughtUpCount = (this.#unit.caughtUpCount ?? 0) + 1;
      else if (!signal.aborted && !canRepeat()) {
        const problem = this.#problems.get(node.name) ?? 'the database does not answer';
        this.#setup.gaveUp(`gave up missed runs: ${node.name}: ${problem}`);
        break;
      }
    }
    if (signal.aborted) return served;
    task.advanceTo(clock.now());
    task.goLive();
    return served;
  }

  /** Queries on the schedule of a node, continuing after the tick that was served last. */
  async #loop(node: QueryNode, served: Timestamp | undefined, signal: AbortSignal): Promise<void> {
    const { clock, clusters } = this.#options;
    const { task } = this.#unit;
    try {
      clusters.cluster(node.options.cluster);
    } catch (error) {
      // Usable as soon as it is configured; until then the task reports what is missing.
      this.#report(node, messageOf(error));
    }
    let tick =
      served === undefined
        ? node.schedule(clock.now())
        : nextTick(node.schedule, served, clock.now());
    while (tick !== undefined && task.error === undefined) {
      try {
        await sleepUntil(clock, tick, signal);
      } catch {
        // The task was stopped.
        return;
      }
      if (signal.aborted) return;
      // Retries beyond the next tick would pile up.
      const next = node.schedule(tick) ?? tick;
      const canRepeat = (attempts: number): boolean =>
        attempts <= QUERY_RETRY_COUNT && next > clock.now();
      await this.#ask({ node, tick, canRepeat, signal });
      tick = nextTick(node.schedule, tick, clock.now());
    }
  }

  /** Whether the task was given the answer. */
  async #ask({ node, tick, canRepeat, signal }: Asked): Promise<boolean> {
    const { task } = this.#unit;
    const { start, stop } = rangeOf(node.options, tick);
    let delayMs = QUERY_RETRY_DELAY_FIRST_MS;
    for (let attempts = 1; !signal.aborted; attempts++) {
      try {
        const result = await this.#options.query(node, { start, stop }, signal);
        await task.ready();
        this.#report(node, undefined);
        if (!signal.aborted) task.pushQueryResult(node.name, result, { stop });
        return !signal.aborted;
      } catch (error) {
        if (signal.aborted) return false;
        if (!(error instanceof AppError)) throw error;
        task.queryFailed(node.name, error.message);
        this.#report(node, error.message);
        if (!(error instanceof Unavailable) || !canRepeat(attempts)) return false;
        await this.#options.clock.sleep(delayMs, signal).catch(() => undefined);
        delayMs = Math.min(QUERY_RETRY_DELAY_MAX_MS, delayMs * 2);
      }
    }
    return false;
  }

  #report(node: QueryNode, problem: string | undefined): void {
    if (problem === undefined) this.#problems.delete(node.name);
    else this.#problems.set(node.name, problem);
    const [first] = this.#problems;
    this.#unit.problem = first === undefined ? undefined : `${first[0]}: ${first[1]}`;
  }
}

// Sleeps in pieces: setting the wall clock must not delay a schedule by more than a minute.
const SLEEP_MS_MAX = 60_000;

async function sleepUntil(clock: Clock, time: Timestamp, signal: AbortSignal): Promise<void> {
  for (;;) {
    const restMs = Number(time - clock.now()) / 1e6;
    if (restMs <= 0) return;
    await clock.sleep(Math.min(SLEEP_MS_MAX, Math.ceil(restMs)), signal);
  }
}

/**
 * The tick after `tick`; of those that have passed while the last one was served, only the latest
 * counts.
 */
function nextTick(schedule: Schedule, tick: Timestamp, now: Timestamp): Timestamp | undefined {
  let next = schedule(tick);
  for (;;) {
    if (next === undefined || next > now) return next;
    const after = schedule(next);
    if (after === undefined || after > now) return next;
    next = after;
  }
}
