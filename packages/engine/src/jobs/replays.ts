// Replays: run recorded data, or data fetched now, through a separate copy of a task.
import {
  AppError,
  assert,
  formatRfc3339,
  InvalidRequest,
  messageOf,
  NotFound,
} from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import type { AlertService } from '@tidemark/alerting';
import type { PointBatch, QueryResultSeries, RunningTask } from '@tidemark/runtime';
import type { EngineServices } from '../services/task-services.ts';
import { VirtualTimers } from '@tidemark/runtime';
import { topicsOf } from '@tidemark/runtime/host';
import { UNKNOWN_DATABASE } from '../access/data-access.ts';
import { sizeOf } from '../cluster/recording-exchange.ts';
import { queryNodesOf } from '../batch/query-nodes.ts';
import type { BatchScheduler } from '../batch/batch-scheduler.ts';
import type { Clusters } from '../database/clusters.ts';
import { databasesOfQuery, sourceOf } from '../database/query-text.ts';
import type { Definition } from '../tasks/definition.ts';
import { makeTask } from '../tasks/executor.ts';
import type { CreateTask } from '../tasks/executor.ts';
import type { Executing } from '../tasks/unit.ts';
import { printJson } from '../formats/json.ts';
import { idOrRandom } from '../ids.ts';
import type { Metadata } from '../store/metadata.ts';
import type { ReplayRecord, TaskRecord } from '../store/records.ts';
import { noTask } from '../tasks/task-service.ts';
import type { TaskChecks } from '../tasks/task-checks.ts';
import { databasesOf } from '../tasks/task-databases.ts';
import type { TaskService } from '../tasks/task-service.ts';
import { taskOptions } from '../tasks/task-options.ts';
import type { TaskSetting } from '../tasks/task-options.ts';
import { printTaskStats } from '../tasks/task-stats.ts';
import { mergedTicks } from './batch-ticks.ts';
import { JobStore } from './job-store.ts';
import type { JobControl } from './job-store.ts';
import { batchOf, firstTime, lastTime, pointsOfSeries, shiftSeries, timeOfLine } from './points.ts';
import { readRecording } from './recording-file.ts';
import type { RecordedPoint, RecordedResult } from './recording-file.ts';
import type { Recordings } from './recordings.ts';

export type ReplaysOptions = {
  readonly metadata: Metadata;
  readonly clock: Clock;
  readonly recordings: Recordings;
  readonly tasks: TaskService;
  readonly checks: TaskChecks;
  readonly clusters: Clusters;
  readonly scheduler: BatchScheduler;
  readonly alerts: AlertService;
  readonly createTask: CreateTask;
  readonly setting: TaskSetting;
  readonly runningMax: number;
  /** Hides secrets in errors. */
  readonly redact: (text: string) => string;
  readonly servicesOf: (taskId: string) => EngineServices;
};

/** Input of all kinds of replays. */
export type ReplayInput = {
  readonly id: string;
  readonly task: string;
  readonly isRecordingTime: boolean;
  readonly clock: 'fast' | 'real';
};

type Entry = RecordedPoint | RecordedResult;

/** Number of ended replays whose task can still be inspected; older ones only have their record. */
const KEPT_TASKS_MAX = 32;

/** Points that are pushed together if no timer of the task is due between them. */
const POINTS_PER_PUSH = 1000;

export class Replays {
  readonly #options: ReplaysOptions;
  readonly #store: JobStore<ReplayRecord>;
  readonly #executing = new Map<string, ReplayTask>();

  constructor(options: ReplaysOptions) {
    this.#options = options;
    this.#store = new JobStore(options.metadata.table<ReplayRecord>('replays'), options.clock, {
      kind: 'replay',
      runningMax: options.runningMax,
      redact: options.redact,
    });
  }

  open(): Promise<void> {
    return this.#store.open();
  }

  list(): readonly ReplayRecord[] {
    return this.#store.list();
  }

  require(id: string): ReplayRecord {
    const record = this.#store.get(id);
    if (record === undefined)
      throw new NotFound(`no replay exists with the id ${JSON.stringify(id)}`);
    return record;
  }

  /** The task of a replay, running or ended. Throws the errors that clients know. */
  executing(replayId: string, taskId: string): Executing {
    const executing = this.#executing.get(replayId);
    if (executing === undefined) {
      throw new NotFound(`no running replay with the id ${JSON.stringify(replayId)}`);
    }
    if (executing.taskId !== taskId) {
      throw new InvalidRequest(
        `replay ${JSON.stringify(replayId)} is not for task ${JSON.stringify(taskId)}`,
      );
    }
    return executing;
  }

  async delete(id: string): Promise<void> {
    const record = this.#store.get(id);
    await this.#store.delete(id);
    this.#executing.delete(id);
    if (record !== undefined) await this.#options.alerts.deleteTopicsOf(id, record.task);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Replays a recording. */
  async replayRecording(
    input: ReplayInput & { readonly recording: string },
  ): Promise<ReplayRecord> {
    const id = idOrRandom(input.id, 'replay');
    const task = this.#task(input.task);
    const recording = this.#recording(input.recording);
    if (recording.type !== task.type) {
      throw new InvalidRequest(
        `cannot replay ${recording.type} recording to ${task.type} task: ${task.id}`,
      );
    }
    if (recording.status === 'running') {
      throw new InvalidRequest(`recording is not finished: ${recording.id}`);
    }
    const { recordings } = this.#options;
    return this.#start(
      { ...input, id },
      task,
      { recording: recording.id, databases: recording.databases ?? [UNKNOWN_DATABASE] },
      async function* entries({ progress, signal }) {
        const path = await recordings.file(recording.id, signal);
        const size = path === undefined ? undefined : await sizeOf(path);
        if (path === undefined || size === undefined) {
          const reason = recording.error === '' ? '' : `: ${recording.error}`;
          throw new NotFound(`recording ${recording.id} has no data${reason}`);
        }
        yield* readRecording(path, (bytesRead) => progress(bytesRead / Math.max(1, size)));
      },
    );
  }

  /** Makes a batch task's queries for a range of time now and replays the answers. */
  async replayBatch(
    input: ReplayInput & { readonly start: Timestamp; readonly stop: Timestamp },
  ): Promise<ReplayRecord> {
    const id = idOrRandom(input.id, 'replay');
    const task = this.#task(input.task);
    if (task.type !== 'batch') {
      throw new InvalidRequest(`cannot replay batch against stream task: ${task.id}`);
    }
    const { scheduler, checks } = this.#options;
    const from = { recording: '', databases: [] };
    return this.#start({ ...input, id }, task, from, async function* entries({ signal, progress }) {
      const nodes = queryNodesOf(checks.definitionOf(task).pipeline);
      for (const { node, index, tick, range } of mergedTicks(nodes, input)) {
        const series = await scheduler.query(node, range, signal);
        signal.throwIfAborted();
        yield { query: index, stop: range.stop, series };
        progress(Number(tick - input.start) / Number(input.stop - input.start));
      }
    });
  }

  /** Makes one query now and replays its answer. */
  async replayQuery(
    input: ReplayInput & { readonly query: string; readonly cluster: string },
  ): Promise<ReplayRecord> {
    const id = idOrRandom(input.id, 'replay');
    const task = this.#task(input.task);
    const { clusters, clock } = this.#options;
    clusters.cluster(input.cluster);
    const from = { recording: '', databases: databasesOfQuery(input.query) };
    return this.#start({ ...input, id }, task, from, async function* entries({ signal }) {
      const source = sourceOf(input.query);
      const series = await clusters.query(input.cluster, input.query, signal);
      if (task.type === 'stream') yield* pointsOfSeries(series, source);
      else yield { query: 0, stop: clock.now(), series };
    });
  }

  #task(id: string): TaskRecord {
    const task = this.#options.tasks.get(id);
    if (task === undefined) throw new NotFound(`task load: ${noTask(id)}`);
    return task;
  }

  #recording(id: string): ReturnType<Recordings['require']> {
    try {
      return this.#options.recordings.require(id);
    } catch (cause) {
      if (!(cause instanceof NotFound)) throw cause;
      throw new NotFound(`recording not found: ${cause.message}`, { cause });
    }
  }

  async #start(
    input: ReplayInput,
    task: TaskRecord,
    from: { readonly recording: string; readonly databases: readonly string[] },
    entries: (control: JobControl) => AsyncIterable<Entry>,
  ): Promise<ReplayRecord> {
    const record: ReplayRecord = {
      id: input.id,
      task: task.id,
      recording: from.recording,
      isRecordingTime: input.isRecordingTime,
      clock: input.clock,
      date: formatRfc3339(this.#options.clock.now()),
      error: '',
      status: 'running',
      progress: 0,
      databases: [...new Set([...databasesOf(task), ...from.databases])],
      statsJson: '{}',
    };
    await this.#store.start(record, (control) => this.#run(record, task, { control, entries }));
    return record;
  }

  async #run(
    record: ReplayRecord,
    stored: TaskRecord,
    {
      control,
      entries,
    }: {
      readonly control: JobControl;
      readonly entries: (control: JobControl) => AsyncIterable<Entry>;
    },
  ): Promise<Partial<ReplayRecord>> {
    const zero = this.#options.clock.now();
    const timers = record.clock === 'fast' ? new VirtualTimers(zero) : undefined;
    const { executing, definition } = await this.#open(record, stored, timers);
    const { task } = executing;
    const pace = new Pace({
      record,
      clock: this.#options.clock,
      zero,
      timers,
      signal: control.signal,
      task,
    });
    try {
      await framed('running replay: ', () =>
        feed(task, { definition, pace, entries: entries(control) }),
      );
      await framed('running replay: ', () => task.drain());
    } finally {
      await task.close();
      executing.hasEnded = true;
    }
    if (task.error !== undefined) throw new InvalidRequest(`task run: ${task.error}`);
    return { statsJson: printJson(printTaskStats(executing)) };
  }

  async #open(
    record: ReplayRecord,
    stored: TaskRecord,
    timers: VirtualTimers | undefined,
  ): Promise<{ readonly executing: ReplayTask; readonly definition: Definition }> {
    const { checks, createTask, servicesOf, setting } = this.#options;
    return framed('task start: ', async () => {
      const definition = checks.startableOf(stored);
      const { databases = [UNKNOWN_DATABASE] } = record;
      const topics = topicsOf(definition.pipeline, { taskId: stored.id, scope: record.id });
      this.#options.alerts.addOrigins(topics, databases);
      const task = makeTask(createTask, definition.pipeline, {
        services: servicesOf(stored.id),
        options: taskOptions(setting, {
          taskId: stored.id,
          scope: record.id,
          timers,
          isReplay: true,
        }),
      });
      await task.start();
      const executing: ReplayTask = {
        id: stored.id,
        taskId: stored.id,
        pipeline: definition.pipeline,
        databases,
        task,
        throughput: 0,
        problem: undefined,
        hasEnded: false,
      };
      this.#executing.set(record.id, executing);
      for (const oldest of this.#executing.keys()) {
        if (this.#executing.size <= KEPT_TASKS_MAX) break;
        this.#executing.delete(oldest);
      }
      return { executing, definition };
    });
  }
}

type ReplayTask = Omit<Executing, 'hasEnded'> & {
  readonly taskId: string;
  readonly task: RunningTask;
  hasEnded: boolean;
};

type PaceOptions = {
  readonly record: ReplayRecord;
  readonly clock: Clock;
  readonly zero: Timestamp;
  readonly timers: VirtualTimers | undefined;
  readonly signal: AbortSignal;
  readonly task: RunningTask;
};

/** When recorded data is due: at once, or with the same delay as in the recording. */
class Pace {
  readonly #options: PaceOptions;
  #offset: bigint | undefined;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** The offset added to the times of data. The first time becomes the start of the replay. */
  shift(first: Timestamp | undefined): bigint {
    if (first !== undefined) this.#offset ??= this.#options.zero - first;
    return this.#options.record.isRecordingTime ? 0n : (this.#offset ?? 0n);
  }

  /** Whether data may be collected: in virtual time it is due when the task reaches its time. */
  get isVirtual(): boolean {
    return this.#options.timers !== undefined;
  }

  /** Waits until data of this recorded time is due, or moves the task's time there. */
  async until(time: Timestamp): Promise<void> {
    const { timers, clock, signal, task } = this.#options;
    signal.throwIfAborted();
    const due = this.#wall(time);
    if (timers !== undefined) {
      task.advanceTo(due);
      return;
    }
    for (;;) {
      const restMs = Number(due - clock.now()) / 1e6;
      if (restMs <= 0) return;
      await clock.sleep(Math.min(restMs, 60_000), signal);
    }
  }

  /** Pushes points whose times have been shifted: at their virtual times, or now. */
  async push(batch: PointBatch, shift: bigint): Promise<void> {
    const { timers, signal, task } = this.#options;
    signal.throwIfAborted();
    await task.ready();
    if (timers === undefined) task.push(batch);
    else task.pushDue(batch, { offset: this.#wall(0n) - shift });
    task.taker?.takeOver(batch);
  }

  #wall(time: Timestamp): Timestamp {
    return time + (this.#offset ?? 0n);
  }
}

async function feed(
  task: RunningTask,
  {
    definition,
    pace,
    entries,
  }: {
    readonly definition: Definition;
    readonly pace: Pace;
    readonly entries: AsyncIterable<Entry>;
  },
): Promise<void> {
  const nodes = definition.type === 'batch' ? queryNodesOf(definition.pipeline) : [];
  const points = new PointFeeder(pace);
  for await (const entry of entries) {
    if (task.error !== undefined) return;
    if ('line' in entry) {
      await points.add(entry);
      continue;
    }
    const node = nodes[entry.query] ?? nodes[0];
    assert(node !== undefined, 'a batch task has a query');
    await pushResult(task, { nodeName: node.name, result: entry, pace });
  }
  await points.flush();
}

async function pushResult(
  task: RunningTask,
  {
    nodeName,
    result,
    pace,
  }: {
    readonly nodeName: string;
    readonly result: RecordedResult;
    readonly pace: Pace;
  },
): Promise<void> {
  const shift = pace.shift(firstTime(result.series));
  const last = lastTime(result.series);
  if (last !== undefined) await pace.until(last);
  const series: readonly QueryResultSeries[] = shiftSeries(result.series, shift);
  const lastShifted = last === undefined ? result.stop : last + shift;
  const stop = lastShifted > result.stop ? lastShifted : result.stop;
  await task.ready();
  task.pushQueryResult(nodeName, series, { stop });
}

/** Collects points of one database and policy, up to a limit in virtual time. */
class PointFeeder {
  readonly #pace: Pace;
  #waiting: RecordedPoint[] = [];
  #shift = 0n;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  async add(point: RecordedPoint): Promise<void> {
    const time = timeOfLine(point.line);
    this.#shift = this.#pace.shift(time);
    const [first] = this.#waiting;
    const isSamePolicy =
      first?.database === point.database && first.retentionPolicy === point.retentionPolicy;
    const fits = isSamePolicy && this.#waiting.length < POINTS_PER_PUSH && this.#pace.isVirtual;
    if (!fits) await this.flush();
    if (!this.#pace.isVirtual) await this.#pace.until(time);
    this.#waiting.push(point);
  }

  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const batch = batchOf(this.#waiting, this.#shift);
    this.#waiting = [];
    await this.#pace.push(batch, this.#shift);
  }
}

// The recorded texts name the part in which a replay failed.
async function framed<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const message = messageOf(cause);
    if (cause instanceof AppError || cause instanceof Error) {
      throw new InvalidRequest(`${prefix}${message}`, { cause });
    }
    throw cause;
  }
}
