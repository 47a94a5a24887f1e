// Executes tasks: starts and stops them, holds the points that wait for them, and reports their
// state.
import { assert, AppError, InvalidRequest, LATE, messageOf, within } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Pipeline } from '@tidemark/pipeline';
import { taskOfUnit, unitName } from '@tidemark/runtime';
import { topicsOf } from '@tidemark/runtime/host';
import type { RunningTask, TaskOptions, TaskPart, TaskState } from '@tidemark/runtime';
import { STOP_IDLE_MS } from '../limits.ts';
import type { EngineServices } from '../services/task-services.ts';
import type { Logger } from '../observability/log-hub.ts';
import type { Dbrp } from '../store/records.ts';
import { databasesOf } from './task-databases.ts';
import { taskOptions } from './task-options.ts';
import type { TaskSetting } from './task-options.ts';
import { fromBeginning, isCatchingUp, nanos, resumptionOf } from './task-source.ts';
import type { Beginning, CatchUpConfig, Resumption, TaskSource } from './task-source.ts';
import { servicesOfParts, SplitExecuting } from './split-task.ts';
import type { Executing, Unit } from './unit.ts';

/** Creates a running task of a pipeline; the runtime's `createTask`, or a task host. */
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
  /** The saved state of a task, for restarting it after its thread has failed. */
  readonly savedState: (unit: SavedUnit) => TaskState | undefined;
  /** In a cluster: where a task without a saved state began. */
  readonly beginning: (unit: SavedUnit) => Beginning | undefined;
  readonly catchUp: CatchUpConfig;
  /** Feeds a stream task with the points of its databases. */
  readonly startPoints: (
    unit: Unit,
    setup: SourceSetup & { readonly dbrps: readonly Dbrp[] },
  ) => TaskSource;
  /** Starts the queries of a batch task. */
  readonly startQueries: (unit: Unit, setup: SourceSetup) => TaskSource;
  /** Called before a task publishes to topics, with the databases that it reads. */
  readonly addTopicOrigins: (topics: readonly string[], databases: readonly string[]) => void;
  readonly log: Logger;
};

export type SourceSetup = {
  /** The missed data that the task gets first. */
  readonly from: Resumption | undefined;
  /** The task goes on without a part of what it has missed, for this reason. */
  readonly gaveUp: (reason: string) => void;
};

/** A task that can be started. */
export type Startable = {
  readonly id: string;
  readonly pipeline: Pipeline;
  readonly dbrps: readonly Dbrp[];
  /** Identifies the definition, to which state belongs. */
  readonly definition: string;
  /** The number of parts it runs in; one when absent. */
  readonly split?: Omit<TaskPart, 'index'> | undefined;
  /** State of an earlier run of the same definition. */
  readonly saved?: ((unit: SavedUnit) => TaskState | undefined) | undefined;
};

/** Seconds of which `meanThroughput` is the mean. */
const MEAN_SECONDS = 300;

/** Events of a running task. */
export type TaskEvents = {
  /** Called once, with the reason. */
  readonly died: (error: string) => void;
  /** Its thread failed and it was restarted. */
  readonly restarted: (reason: string) => void;
  /** The task continues without some of the points that it missed. */
  readonly gaveUp: (reason: string) => void;
};

/** The owner of a state, and its definition. */
export type SavedUnit = Pick<Unit, 'unit' | 'definition'>;

type RunningUnit = Unit & {
  source: TaskSource | undefined;
  lastCollected: number;
  measureCount: number;
  /** Where it continues from; `undefined` when it restarts. */
  from: Resumption | undefined;
  /** Its host was lost, and another one starts it. */
  isRestarting: boolean;
  /** It had no state. */
  readonly isNew: boolean;
  ended: Promise<void> | undefined;
};

type Entry = {
  readonly started: Startable;
  readonly shown: Executing;
  readonly units: readonly RunningUnit[];
};

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #ending = new AbortController();

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  /** The running task of that id; one that has ended by itself no longer runs. */
  running(id: string): Executing | undefined {
    const shown = this.entry(id);
    return shown?.task.error === undefined ? shown : undefined;
  }

  /** The running or ended task; for its error and its last statistics. */
  entry(id: string): Executing | undefined {
    return this.#entries.get(id)?.shown;
  }

  /** The definition with which a running task was started; the stored one may be newer. */
  started(id: string): Startable | undefined {
    return this.running(id) === undefined ? undefined : this.#entries.get(id)?.started;
  }

  /** The units of a running task. */
  unitsOf(id: string): readonly Unit[] {
    return this.running(id) === undefined ? [] : (this.#entries.get(id)?.units ?? []);
  }

  get count(): number {
    return [...this.all()].length;
  }

  *all(): Iterable<Executing> {
    for (const { shown } of this.#entries.values()) if (shown.task.error === undefined) yield shown;
  }

  /** The units of all running tasks: whole tasks or parts. */
  *units(): Iterable<Unit> {
    for (const { shown, units } of this.#entries.values())
      if (shown.task.error === undefined) yield* units;
  }

  /** One of `units`, by its name. */
  unit(name: string): Unit | undefined {
    const shown = this.#entries.get(taskOfUnit(name));
    if (shown === undefined || shown.shown.task.error !== undefined) return undefined;
    return shown.units.find(({ unit }) => unit === name);
  }

  /**
   * Starts a task, all parts of it or none. Rejects with the reason when it cannot start; then
   * nothing of it is left. Returns the units that began without a state.
   */
  async start(startable: Startable, events: TaskEvents): Promise<readonly Unit[]> {
    const { id, pipeline, dbrps } = startable;
    assert(!this.#entries.has(id), 'a task is started once');
    const units: RunningUnit[] = [];
    const topics = topicsOf(pipeline, { taskId: id });
    this.#options.addTopicOrigins(topics, databasesOf({ dbrps }));
    try {
      this.#make(startable, units);
      const shown = shownOf(id, pipeline, units);
      this.#entries.set(id, { started: startable, shown, units });
      for (const unit of units) this.#follow(unit, units, events);
      const starts = await Promise.allSettled(units.map(({ task }) => task.start()));
      // A part that fails ends the others, whose starts then fail for other reasons.
      if (shown.task.error !== undefined) throw new InvalidRequest(shown.task.error);
      for (const each of starts) if (each.status === 'rejected') throw each.reason;
      const { startPoints, startQueries } = this.#options;
      // All parts at once: they are given the same points.
      for (const unit of units) {
        const setup = { from: unit.from, gaveUp: events.gaveUp };
        unit.source =
          pipeline.type === 'stream'
            ? startPoints(unit, { ...setup, dbrps })
            : startQueries(unit, setup);
        // It lost its host while the others started: otherwise it would be given missed data twice.
        if (unit.isRestarting) unit.source.suspend();
      }
      return units.filter(({ isNew }) => isNew);
    } catch (error) {
      this.#entries.delete(id);
      await Promise.all(units.map(endOf));
      throw error;
    }
  }

  /** Adds the units of a task, which do not run yet. */
  #make(startable: Startable, units: RunningUnit[]): void {
    const { id, definition, split } = startable;
    const services = this.#options.services(id);
    if (split === undefined) {
      units.push(this.#makeUnit(startable, { unit: id, definition, part: undefined, services }));
      return;
    }
    const servicesOf = servicesOfParts(services);
    for (let index = 0; index < split.count; index++) {
      const part = { ...split, index };
      units.push(
        this.#makeUnit(startable, {
          unit: unitName(id, part),
          // Another version may choose other tags.
          definition: `${definition} ${JSON.stringify(split.by)}`,
          part,
          services: servicesOf(index),
        }),
      );
    }
  }

  #makeUnit(
    { id, pipeline, dbrps, saved }: Startable,
    of: SavedUnit & { readonly part: TaskPart | undefined; readonly services: EngineServices },
  ): RunningUnit {
    const { unit: name, definition, part, services } = of;
    const { catchUp } = this.#options;
    const latenessNanos = nanos(catchUp.catchUpLatenessMs);
    const state = saved?.(of);
    const from = this.#resumption(pipeline, of, state);
    const task = makeTask(this.#options.createTask, pipeline, {
      services,
      options: taskOptions(this.#options.setting, {
        taskId: id,
        part,
        position: isCatchingUp(catchUp, pipeline.type) ? { latenessNanos } : undefined,
        rerun: from?.rerun,
        // The thread of the task has failed; the data since the saved state is missing.
        savedState: () => {
          const last = this.#options.savedState({ unit: name, definition });
          unit.from = this.#resumption(pipeline, of, last);
          unit.isRestarting = true;
          unit.source?.suspend();
          return { state: last, rerun: unit.from?.rerun };
        },
      }),
    });
    const unit: RunningUnit = {
      id,
      unit: name,
      part,
      pipeline,
      databases: databasesOf({ dbrps }),
      definition,
      task,
      throughput: 0,
      meanThroughput: 0,
      measureCount: 0,
      problem: undefined,
      lastCollected: 0,
      source: undefined,
      from,
      isRestarting: false,
      isNew: state === undefined,
      ended: undefined,
    };
    if (state !== undefined) this.#restore(task, state);
    return unit;
  }

  /** A part that ends by itself ends the others. */
  #follow(unit: RunningUnit, all: readonly RunningUnit[], events: TaskEvents): void {
    unit.task.onError((error) => {
      if (all.some((other) => other !== unit && other.task.error !== undefined)) return;
      events.died(error);
      for (const other of all) {
        if (other === unit) continue;
        endOf(other).catch((cause: unknown) => {
          const fields = { task: unit.id, part: other.unit, err: messageOf(cause) };
          this.#options.log('error', 'failed to end a part of a task', fields);
        });
      }
    });
    unit.task.onRestarted((reason) => {
      unit.isRestarting = false;
      unit.source?.resume(unit.from);
      if (reason !== undefined) events.restarted(reason);
    });
  }

  /** Stops a task: earlier points are processed, then its nodes end. */
  async stop(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    await Promise.all(entry.units.map(endOf));
    if (this.#entries.get(id) === entry) this.#entries.delete(id);
  }

  /**
   * Stops all tasks, within a time in which one that is stuck can be given up at least. Those that
   * take longer are left behind, which is logged.
   */
  async stopAll(ms: number): Promise<void> {
    const deadlineMs = Math.max(ms, 2 * STOP_IDLE_MS);
    this.#ending.abort();
    const stopped = Promise.all([...this.#entries.keys()].map((id) => this.stop(id)));
    if ((await within(this.#options.clock, deadlineMs, stopped)) !== LATE) return;
    const tasks = [...this.#entries.keys()];
    this.#options.log('error', 'tasks did not end before the stop of the engine', { tasks });
  }

  /**
   * The engine stops: after this time, points that wait for tasks are given up, and so are writes
   * that wait with them.
   */
  endPointsAfter(ms: number): void {
    const giveUp = (): void => {
      for (const { source } of this.#allUnits()) source?.giveUp?.();
    };
    // All of them are taken.
    this.#options.clock.sleep(ms, this.#ending.signal).then(giveUp, () => undefined);
  }

  /** Whether the states of a running task record which points they contain. */
  hasPosition(id: string): boolean {
    const entry = this.running(id);
    return entry !== undefined && isCatchingUp(this.#options.catchUp, entry.pipeline.type);
  }

  /** The units of stream tasks. */
  streamUnits(): readonly Unit[] {
    return [...this.units()].filter(({ pipeline }) => pipeline.type === 'stream');
  }

  /** Called every second: measures the throughput. */
  measure(): void {
    for (const unit of this.#allUnits()) {
      const collected = unit.task.collectedCount;
      // A restarted task counts from its saved state.
      unit.throughput = Math.max(0, collected - unit.lastCollected);
      unit.lastCollected = collected;
      // A plain mean until there is a measure for each second of the time.
      const weight = 1 / Math.min(++unit.measureCount, MEAN_SECONDS);
      unit.meanThroughput += weight * (unit.throughput - unit.meanThroughput);
    }
  }

  /**
   * Before the engine stops: lets tasks catch up that can. Points that still wait for the others
   * are dropped.
   */
  async settle(deadlineMs: number): Promise<void> {
    await Promise.all(this.#allUnits().map(({ source }) => source?.settle(deadlineMs)));
  }

  /**
   * Before the last states of units are saved: gives their nodes so long to send what they buffer,
   * and to get answers. What is left is part of the states, and is sent again.
   */
  async settleOutputs(units: Iterable<Unit>, ms: number): Promise<void> {
    // A unit that has ended sends nothing.
    const settled = Promise.allSettled(Array.from(units, ({ task }) => task.settle()));
    await within(this.#options.clock, ms, settled);
  }

  /** Includes units of tasks that have ended with an error. */
  #allUnits(): readonly RunningUnit[] {
    return [...this.#entries.values()].flatMap(({ units }) => units);
  }

  /** Where a unit continues, from its state if it has one. */
  #resumption(
    pipeline: Pipeline,
    unit: SavedUnit,
    state: TaskState | undefined,
  ): Resumption | undefined {
    const { clock, catchUp: config, log } = this.#options;
    if (state === undefined) {
      const beginning = this.#options.beginning(unit);
      return beginning && fromBeginning(beginning);
    }
    try {
      return resumptionOf(state, { config, type: pipeline.type, now: clock.now() });
    } catch (error) {
      // Written by another version.
      log('warn', 'failed to read the state of a task', { task: unit.unit, err: String(error) });
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

/** Creates a task; a refusal of its nodes is the caller's mistake, in words that clients know. */
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

/** The view of a task: its only unit, or all of them combined. */
function shownOf(id: string, pipeline: Pipeline, units: readonly RunningUnit[]): Executing {
  const [first] = units;
  assert(first !== undefined, 'a task has a part');
  return first.part === undefined ? first : new SplitExecuting(id, pipeline, units);
}

function endOf(unit: RunningUnit): Promise<void> {
  unit.ended ??= end(unit);
  return unit.ended;
}

async function end({ source, task }: RunningUnit): Promise<void> {
  const givenAll = source?.close();
  if (task.error === undefined) await task.close(givenAll);
  await givenAll;
}
