// Executing tasks: starts and stops them, keeps what points wait for them, and knows how they are
// doing.
import { assert, AppError, InvalidRequest } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Pipeline } from '@tidemark/pipeline';
import type { RunningTask, TaskOptions, TaskState } from '@tidemark/runtime';
import type { EngineServices } from '../services/task-services.ts';
import type { Logger } from '../observability/log-hub.ts';
import type { Dbrp } from '../store/records.ts';
import { taskOptions } from './task-options.ts';
import type { TaskSetting } from './task-options.ts';
import { isCatchingUp, nanos, resumptionOf } from './task-source.ts';
import type { CatchUpConfig, Resumption, TaskSource } from './task-source.ts';

/** Makes a running task of a pipeline; the runtime's `createTask`, or a task host. */
export type CreateTask = (
  pipeline: Pipeline,
  services: EngineServices,
  options: TaskOptions,
) => RunningTask;

export type ExecutorOptions = {
  readonly createTask: CreateTask;
  readonly clock: Clock;
  readonly services: (taskId: string) => EngineServices;
  readonly setting: TaskSetting;
  /** What was saved of a task, for starting it again after its thread has failed. */
  readonly savedState: (task: Pick<Startable, 'id' | 'definition'>) => TaskState | undefined;
  readonly catchUp: CatchUpConfig;
  /** Feeds a stream task with the points of its databases. */
  readonly startPoints: (
    task: Executing,
    setup: SourceSetup & { readonly dbrps: readonly Dbrp[] },
  ) => TaskSource;
  /** Starts the queries of a batch task. */
  readonly startQueries: (task: Executing, setup: SourceSetup) => TaskSource;
  readonly log: Logger;
};

export type SourceSetup = {
  /** What the task is given first. */
  readonly from: Resumption | undefined;
  /** The task goes on without a part of what it has missed, for this reason. */
  readonly gaveUp: (reason: string) => void;
};

/** What a task needs to run. */
export type Startable = {
  readonly id: string;
  readonly pipeline: Pipeline;
  readonly dbrps: readonly Dbrp[];
  /** Names what was started; state belongs to it alone. */
  readonly definition: string;
  /** State of an earlier run of that definition. */
  readonly saved?: TaskState | undefined;
};

/** A task that runs, or that ran and died with `task.error`. */
export type Executing = {
  readonly id: string;
  readonly pipeline: Pipeline;
  /** Names what was started, which the stored record may no longer say; absent for replays. */
  readonly definition?: string | undefined;
  readonly task: RunningTask;
  /** Points (batches) per second over the last second. */
  throughput: number;
  /** A replay that is over; its task can still be looked at. */
  hasEnded?: boolean | undefined;
  /** What keeps it from working at the moment, for example a database that is away. */
  problem: string | undefined;
  /** Of a cluster: how far it has come in the log of points. */
  readonly source?: Pick<TaskSource, 'sequence' | 'isSavable' | 'hold' | 'release'> | undefined;
  /** Points that it was given again after a restart, or results of queries. */
  caughtUpCount?: number | undefined;
};

/** What happens to a running task by itself. */
export type TaskEvents = {
  /** Called once, with the reason. */
  readonly died: (error: string) => void;
  /** Its thread failed and it was started again. */
  readonly restarted: (reason: string) => void;
  /** It goes on without a part of what it has missed. */
  readonly gaveUp: (reason: string) => void;
};

type Entry = Executing & { source: TaskSource | undefined; lastCollected: number };

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  /** The running task of that id; one that died by itself is no longer running. */
  running(id: string): Executing | undefined {
    const entry = this.#entries.get(id);
    return entry?.task.error === undefined ? entry : undefined;
  }

  /** Running or died; for its error and its last statistics. */
  entry(id: string): Executing | undefined {
    return this.#entries.get(id);
  }

  get count(): number {
    let count = 0;
    for (const entry of this.#entries.values()) if (entry.task.error === undefined) count++;
    return count;
  }

  *all(): Iterable<Executing> {
    for (const entry of this.#entries.values()) if (entry.task.error === undefined) yield entry;
  }

  /** Starts a task. Rejects with the reason when it can not start; then nothing of it is left. */
  async start(startable: Startable, events: TaskEvents): Promise<void> {
    assert(!this.#entries.has(startable.id), 'a task is started once');
    const { pipeline, id, definition, saved } = startable;
    const { catchUp } = this.#options;
    const latenessNanos = nanos(catchUp.catchUpLatenessMs);
    let from = saved === undefined ? undefined : this.#resumption(id, pipeline, saved);
    const task = makeTask(this.#options.createTask, pipeline, {
      services: this.#options.services(id),
      options: taskOptions(this.#options.setting, {
        taskId: id,
        position: isCatchingUp(catchUp, pipeline.type) ? { latenessNanos } : undefined,
        rerun: from?.rerun,
        // The thread of the task has failed; what was fed to it since the state was saved is
        // missing.
        savedState: () => {
          const state = this.#options.savedState({ id, definition });
          from = state === undefined ? undefined : this.#resumption(id, pipeline, state);
          entry.source?.suspend();
          return state === undefined ? undefined : { state, rerun: from?.rerun };
        },
      }),
    });
    const entry: Entry = {
      id,
      pipeline,
      definition,
      task,
      throughput: 0,
      problem: undefined,
      lastCollected: 0,
      source: undefined,
    };
    this.#entries.set(id, entry);
    try {
      task.onError(events.died);
      task.onRestarted((reason) => {
        entry.source?.resume(from);
        if (reason !== undefined) events.restarted(reason);
      });
      if (saved !== undefined) this.#restore(task, saved);
      await task.start();
      if (task.error !== undefined) throw new InvalidRequest(task.error);
      const { startPoints, startQueries } = this.#options;
      const setup = { from, gaveUp: events.gaveUp };
      entry.source =
        pipeline.type === 'stream'
          ? startPoints(entry, { ...setup, dbrps: startable.dbrps })
          : startQueries(entry, setup);
    } catch (error) {
      this.#entries.delete(id);
      await closeQuietly(task);
      throw error;
    }
  }

  /** Stops a task: what was written before is processed, then its nodes end. */
  async stop(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    await entry.source?.close();
    await closeQuietly(entry.task);
    if (this.#entries.get(id) === entry) this.#entries.delete(id);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((id) => this.stop(id)));
  }

  /** Whether the states of a running task say which points they contain. */
  hasPosition(id: string): boolean {
    const entry = this.running(id);
    return entry !== undefined && isCatchingUp(this.#options.catchUp, entry.pipeline.type);
  }

  /** Ids of the stream tasks that run. */
  streamTasks(): readonly string[] {
    const running = [...this.#entries.values()].filter(({ task }) => task.error === undefined);
    return running.filter(({ pipeline }) => pipeline.type === 'stream').map(({ id }) => id);
  }

  /** Tells all tasks that they were given everything that was there when the engine began. */
  async caughtUp(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ source }) => source?.caughtUp?.()));
  }

  /** Called every second: measures the throughput. */
  measure(): void {
    for (const entry of this.#entries.values()) {
      const collected = entry.task.collectedCount;
      // A task that was started again counts from its saved state on.
      entry.throughput = Math.max(0, collected - entry.lastCollected);
      entry.lastCollected = collected;
    }
  }

  /**
   * Before the engine stops: lets tasks catch up that can. Points that still wait for the others
   * are dropped.
   */
  async settle(deadlineMs: number): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ source }) => source?.settle(deadlineMs)));
  }

  #resumption(id: string, pipeline: Pipeline, state: TaskState): Resumption | undefined {
    const { clock, catchUp: config, log } = this.#options;
    try {
      return resumptionOf(state, { config, type: pipeline.type, now: clock.now() });
    } catch (error) {
      // Written by another version.
      log('warn', 'failed to read the state of a task', { task: id, err: String(error) });
      return undefined;
    }
  }

  #restore(task: RunningTask, state: TaskState): void {
    try {
      task.restore(state);
    } catch (error) {
      // Written by another version; the task starts without it.
      this.#options.log('warn', 'failed to restore the state of a task', {
        task: task.taskId,
        err: String(error),
      });
    }
  }
}

/**
 * Makes a task; what its nodes refuse at start is the caller's mistake, in words that clients know.
 */
export function makeTask(
  createTask: CreateTask,
  pipeline: Pipeline,
  { services, options }: { readonly services: EngineServices; readonly options: TaskOptions },
): RunningTask {
  try {
    return createTask(pipeline, services, options);
  } catch (error) {
    if (error instanceof AppError || !(error instanceof Error)) throw error;
    throw new InvalidRequest(error.message, { cause: error });
  }
}

async function closeQuietly(task: RunningTask): Promise<void> {
  if (task.error !== undefined) return;
  await task.close();
}
