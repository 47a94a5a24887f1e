// Executing tasks: starts and stops them, keeps what points wait for them, and knows how they are doing.
import { assert, AppError, InvalidRequest } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Pipeline } from '@tidemark/pipeline';
import type {
  AlertDefaults,
  RunningTask,
  TaskLimits,
  TaskOptions,
  TaskServices,
  TaskState,
} from '@tidemark/runtime';
import type { BatchSource } from './batch-scheduler.ts';
import type { PointRouter } from './point-router.ts';
import type { Dbrp } from './records.ts';

/** Makes a running task of a pipeline; the runtime's `createTask`, or a task host. */
export type CreateTask = (
  pipeline: Pipeline,
  services: TaskServices,
  options: TaskOptions,
) => RunningTask;

export type ExecutorOptions = {
  readonly createTask: CreateTask;
  readonly clock: Clock;
  readonly router: PointRouter;
  readonly services: (taskId: string) => TaskServices;
  readonly limits: Partial<TaskLimits>;
  readonly alertDefaults: () => AlertDefaults;
  /** What was saved of a task, for starting it again after its thread has failed. */
  readonly savedState: (taskId: string, task: Pick<RunningTask, 'taker'>) => TaskState | undefined;
  /** Starts the queries of a batch task. */
  readonly startQueries: (task: Executing) => BatchSource;
};

/** What a task needs to run. */
export type Startable = {
  readonly id: string;
  readonly pipeline: Pipeline;
  readonly dbrps: readonly Dbrp[];
  /** Names what was started; state belongs to it alone. */
  readonly definition: string;
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
};

/** What happens to a running task by itself. */
export type TaskEvents = {
  /** Called once, with the reason. */
  readonly died: (error: string) => void;
  /** Its thread failed and it was started again. */
  readonly restarted: (reason: string) => void;
};

type Entry = Executing & { readonly stop: () => Promise<void>; lastCollected: number };

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

  /**
   * Starts a task, after `restore` has given it an earlier state. Rejects with the reason when it can not start; then
   * nothing of it is left.
   */
  async start(
    startable: Startable,
    events: TaskEvents,
    restore?: (task: RunningTask) => void,
  ): Promise<void> {
    assert(!this.#entries.has(startable.id), 'a task is started once');
    const { clock, limits } = this.#options;
    const task: RunningTask = makeTask(this.#options.createTask, startable.pipeline, {
      services: this.#options.services(startable.id),
      options: {
        taskId: startable.id,
        clock,
        limits,
        alerts: this.#options.alertDefaults(),
        savedState: () => this.#options.savedState(startable.id, task),
      },
    });
    const { pipeline, id, definition } = startable;
    const entry: Entry = {
      id,
      pipeline,
      definition,
      task,
      throughput: 0,
      problem: undefined,
      lastCollected: 0,
      stop: () => this.#end(entry, stops),
    };
    const stops: (() => Promise<void>)[] = [];
    this.#entries.set(id, entry);
    try {
      task.onError(events.died);
      task.onRestarted(events.restarted);
      restore?.(task);
      await task.start();
      if (task.error !== undefined) throw new InvalidRequest(task.error);
      if (pipeline.type === 'stream') {
        const route = this.#options.router.add(startable.dbrps, task);
        stops.push(() => route.close());
      } else {
        const source = this.#options.startQueries(entry);
        stops.push(() => source.close());
      }
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
    await entry.stop();
    if (this.#entries.get(id) === entry) this.#entries.delete(id);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((id) => this.stop(id)));
  }

  /** Called every second: measures the throughput. */
  measure(): void {
    for (const entry of this.#entries.values()) {
      const collected = entry.task.collectedCount;
      entry.throughput = collected - entry.lastCollected;
      entry.lastCollected = collected;
    }
  }

  async #end(entry: Entry, stops: readonly (() => Promise<void>)[]): Promise<void> {
    for (const stop of stops) await stop();
    await closeQuietly(entry.task);
  }
}

/** Makes a task; what its nodes refuse at start is the caller's mistake, in words that clients know. */
export function makeTask(
  createTask: CreateTask,
  pipeline: Pipeline,
  { services, options }: { readonly services: TaskServices; readonly options: TaskOptions },
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
