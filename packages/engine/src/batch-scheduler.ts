// Batch tasks: every query node asks on its schedule; answers are given to the task in the order of the ticks.
import { AppError, NotFound, Unavailable } from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import type { Pipeline, QueryOptions } from '@tidemark/pipeline';
import type { QueryResultSeries, RunningTask } from '@tidemark/runtime';
import type { Clusters } from './database/clusters.ts';
import { QueryText } from './database/query-text.ts';
import { rangeOf, scheduleOf } from './database/schedule.ts';
import type { Schedule } from './database/schedule.ts';
import {
  QUERY_RETRY_COUNT,
  QUERY_RETRY_DELAY_FIRST_MS,
  QUERY_RETRY_DELAY_MAX_MS,
} from './limits.ts';

/** A query node of a pipeline, ready to ask. */
export type QueryNode = {
  readonly name: string;
  readonly options: QueryOptions;
  readonly text: QueryText;
  readonly schedule: Schedule;
};

/** The query nodes of a batch pipeline in creation order. Throws `InvalidRequest` for what a node can not do. */
export function queryNodesOf(pipeline: Pipeline): readonly QueryNode[] {
  return pipeline.nodes
    .filter((node) => node.type === 'query')
    .map((node) => {
      const options = node.options as QueryOptions;
      return {
        name: node.name,
        options,
        text: new QueryText(options),
        schedule: scheduleOf(options),
      };
    });
}

/** Queries of one running task. */
export type BatchSource = {
  /** Stops asking and waits for the answer that is on its way. */
  close(): Promise<void>;
};

type Asking = {
  readonly node: QueryNode;
  readonly task: RunningTask;
  readonly report: (node: QueryNode, problem: string | undefined) => void;
  readonly signal: AbortSignal;
};

export type BatchSchedulerOptions = {
  readonly clusters: Clusters;
  readonly clock: Clock;
  /** Queries that may run at the same time. */
  readonly concurrency: number;
  readonly timeoutMs: number;
};

export class BatchScheduler {
  readonly #options: BatchSchedulerOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: BatchSchedulerOptions) {
    this.#options = options;
  }

  get runningCount(): number {
    return this.#running;
  }

  /** Starts the queries of a task. */
  start(
    pipeline: Pipeline,
    task: RunningTask,
    onProblem: (problem: string | undefined) => void,
  ): BatchSource {
    const stopped = new AbortController();
    const problems = new Map<string, string>();
    const report = (node: QueryNode, problem: string | undefined): void => {
      if (problem === undefined) problems.delete(node.name);
      else problems.set(node.name, problem);
      const [first] = problems;
      onProblem(first === undefined ? undefined : `${first[0]}: ${first[1]}`);
    };
    const loops = queryNodesOf(pipeline).map((node) =>
      this.#loop({ node, task, report, signal: stopped.signal }),
    );
    return {
      close: async () => {
        stopped.abort();
        await Promise.all(loops);
      },
    };
  }

  async #loop(asking: Asking): Promise<void> {
    const { node, task, report, signal } = asking;
    const { clock, clusters } = this.#options;
    try {
      clusters.cluster(node.options.cluster);
    } catch (error) {
      // Usable as soon as it is configured; until then the task says what it lacks.
      report(node, error instanceof Error ? error.message : String(error));
    }
    let tick = node.schedule(clock.now());
    while (tick !== undefined && task.error === undefined) {
      try {
        await sleepUntil(clock, tick, signal);
      } catch {
        // The task was stopped.
        return;
      }
      if (signal.aborted) return;
      await this.#ask(asking, tick);
      tick = nextTick(node.schedule, tick, clock.now());
    }
  }

  async #ask({ node, task, report, signal }: Asking, tick: Timestamp): Promise<void> {
    const { start, stop } = rangeOf(node.options, tick);
    let delayMs = QUERY_RETRY_DELAY_FIRST_MS;
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        const result = await this.query(node, { start, stop }, signal);
        await task.ready();
        report(node, undefined);
        if (!signal.aborted) task.pushQueryResult(node.name, result, { stop });
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof AppError)) throw error;
        task.queryFailed(node.name, error.message);
        report(node, error.message);
        const canRepeat = error instanceof Unavailable && attempt < QUERY_RETRY_COUNT;
        // The next tick asks anyway; repeating beyond it would pile up.
        const isOverdue = (node.schedule(tick) ?? tick) <= this.#options.clock.now();
        if (!canRepeat || isOverdue) return;
        await this.#options.clock.sleep(delayMs, signal).catch(() => undefined);
        delayMs = Math.min(QUERY_RETRY_DELAY_MAX_MS, delayMs * 2);
      }
    }
  }

  /** Asks for one range of a node; waits until few enough queries run. */
  async query(
    node: QueryNode,
    range: { readonly start: Timestamp; readonly stop: Timestamp },
    signal: AbortSignal,
  ): Promise<readonly QueryResultSeries[]> {
    const { clusters, clock, timeoutMs, concurrency } = this.#options;
    while (this.#running >= concurrency) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running++;
    const done = new AbortController();
    const limit = AbortSignal.any([signal, done.signal]);
    const deadline = new AbortController();
    clock.sleep(timeoutMs, limit).then(
      () => deadline.abort(new Unavailable(`query took longer than ${timeoutMs} ms`)),
      // Answered in time.
      () => undefined,
    );
    try {
      return await clusters.query(
        node.options.cluster,
        node.text.forRange(range.start, range.stop),
        AbortSignal.any([signal, deadline.signal]),
      );
    } catch (error) {
      if (error instanceof NotFound) throw new Unavailable(error.message, { cause: error });
      throw error;
    } finally {
      done.abort();
      this.#running--;
      this.#waiting.shift()?.();
    }
  }
}

// Sleeps in pieces: a wall clock that is set must not make a schedule late by more than a minute.
const SLEEP_MS_MAX = 60_000;

async function sleepUntil(clock: Clock, time: Timestamp, signal: AbortSignal): Promise<void> {
  for (;;) {
    const restMs = Number(time - clock.now()) / 1e6;
    if (restMs <= 0) return;
    await clock.sleep(Math.min(SLEEP_MS_MAX, Math.ceil(restMs)), signal);
  }
}

/** The tick after `tick`; ticks that have passed already while the last one was served are left out but for the last. */
function nextTick(schedule: Schedule, tick: Timestamp, now: Timestamp): Timestamp | undefined {
  let next = schedule(tick);
  for (;;) {
    if (next === undefined || next > now) return next;
    const after = schedule(next);
    if (after === undefined || after > now) return next;
    next = after;
  }
}
