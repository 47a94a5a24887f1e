// Try-outs: run a script that is not stored on past data, in virtual time. They run as a replay
// does, but everything that would leave the task is reported instead of done. The response is one
// JSON object per line: the task, what leaves each node and why, what would have been done, the
// progress of the clock, and the end.
import {
  assert,
  Cancelled,
  formatRfc3339,
  LimitExceeded,
  messageOf,
  untilAborted,
} from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import { effectsOf, formatDot } from '@tidemark/pipeline';
import { VirtualTimers } from '@tidemark/runtime';
import type { AlertDefaults, RunningTask } from '@tidemark/runtime';
import type { AlertService } from '@tidemark/alerting';
import { queryNodesOf } from '../batch/query-nodes.ts';
import { batchOf, lastTime, timeOfLine } from '../jobs/points.ts';
import type { RecordedPoint, RecordedResult } from '../jobs/recording-file.ts';
import { printJson } from '../formats/json.ts';
import { TRY_OUT_LINES, TRY_OUT_MS, TRY_OUT_POINTS, TRY_OUTS } from '../limits.ts';
import type { EngineServices } from '../services/task-services.ts';
import type { TaskRecord } from '../store/records.ts';
import type { Definition } from '../tasks/definition.ts';
import { makeTask } from '../tasks/executor.ts';
import type { CreateTask } from '../tasks/executor.ts';
import type { TaskChecks } from '../tasks/task-checks.ts';
import { taskOptions } from '../tasks/task-options.ts';
import type { TaskSetting } from '../tasks/task-options.ts';
import type { TaskService } from '../tasks/task-service.ts';
import { printTaskStats } from '../tasks/task-stats.ts';
import { entriesOf } from './entries.ts';
import type { EntriesOptions, Entry } from './entries.ts';
import type { TryOutInput } from './input.ts';
import { recordingServices } from './outside.ts';
import { Messages } from './messages.ts';
import { savedTest } from './saved-test.ts';
import type { TestFile } from './saved-test.ts';

export type TryOutsOptions = EntriesOptions & {
  readonly tasks: TaskService;
  readonly checks: TaskChecks;
  readonly alerts: AlertService;
  readonly createTask: CreateTask;
  readonly setting: TaskSetting;
  readonly servicesOf: (taskId: string) => EngineServices;
  /** Hides secrets in the output. */
  readonly redact: (text: string) => string;
};

/** The id of a task without one. */
const DEFAULT_ID = 'try-out';

/** Number of points that are pushed before the output is sent. */
const POINTS_PER_STEP = 100;

/** The clock moves in this many steps at the end, so that a cancelled try-out ends. */
const CLOCK_STEPS = 100n;

/** A try-out with its data open. */
type Opened = {
  readonly record: TaskRecord;
  readonly definition: Definition;
  readonly entries: (signal: AbortSignal) => AsyncIterable<Entry>;
};

export class TryOuts {
  readonly #options: TryOutsOptions;
  #runningCount = 0;

  constructor(options: TryOutsOptions) {
    this.#options = options;
  }

  /**
   * Checks a try-out and returns the lines of the answer, which run it. Throws as the definition of
   * a task does.
   */
  open(input: TryOutInput, signal: AbortSignal): AsyncIterable<string> {
    this.#checkRoom();
    const opened = this.#open(input);
    return this.#counted(() => this.#run(input, opened, signal));
  }

  /** Returns the same as the text of a task test, which expects the output. */
  async save(input: TryOutInput, file: TestFile, signal: AbortSignal): Promise<string> {
    this.#checkRoom();
    const { record, definition, entries } = this.#open(input);
    this.#runningCount++;
    const limit = this.#limit(signal);
    try {
      return await savedTest({ record, definition, entries: entries(limit.signal) }, file, {
        clock: this.#options.clock,
        ...input,
      });
    } finally {
      limit.end();
      this.#runningCount--;
    }
  }

  #open({ task, source }: TryOutInput): Opened {
    const { tasks, checks } = this.#options;
    const record = tasks.draft({ ...task, id: task.id || DEFAULT_ID });
    const definition = checks.startableOf(record);
    return { record, definition, entries: entriesOf(source, definition, this.#options) };
  }

  #checkRoom(): void {
    if (this.#runningCount < TRY_OUTS.value) return;
    throw new LimitExceeded(`too many try-outs run: ${TRY_OUTS.value} may; wait for one to end`);
  }

  async *#counted(lines: () => AsyncIterable<string>): AsyncIterable<string> {
    // Several may have been admitted before the first of them was read.
    this.#checkRoom();
    this.#runningCount++;
    try {
      yield* lines();
    } finally {
      this.#runningCount--;
    }
  }

  #limit(signal: AbortSignal): { readonly signal: AbortSignal; readonly end: () => void } {
    const late = new AbortController();
    const ended = new AbortController();
    this.#options.clock.sleep(TRY_OUT_MS.value, ended.signal).then(
      () => late.abort(new Cancelled(`it did not end within ${TRY_OUT_MS.value / 1000} s`)),
      // Ended in time.
      () => undefined,
    );
    return { signal: AbortSignal.any([signal, late.signal]), end: () => ended.abort() };
  }

  async *#run(
    input: TryOutInput,
    { record, definition, entries }: Opened,
    signal: AbortSignal,
  ): AsyncIterable<string> {
    const limit = this.#limit(signal);
    const source = entries(limit.signal)[Symbol.asyncIterator]();
    const messages = new Messages(this.#options.redact);
    let task: RunningTask | undefined;
    let problem = '';
    let count = 0;
    try {
      const first = await source.next();
      const start = startOf(input, first.value as Entry | undefined) ?? this.#options.clock.now();
      yield printHead(record, definition, start);
      task = this.#make(record, definition, { start, messages });
      for (const { name } of definition.pipeline.nodes) {
        task.tap(name, (message) => messages.tapped(message), { isExplaining: true });
      }
      await task.start();
      const feeder = new Feeder(task, definition, { start, signal: limit.signal });
      for (let entry = first; entry.done !== true; entry = await source.next()) {
        if (count >= TRY_OUT_POINTS.value || messages.count >= TRY_OUT_LINES.value) {
          problem = tooMuch(count);
          break;
        }
        count++;
        if (!(await feeder.add(entry.value))) continue;
        yield* messages.take(feeder.time);
        if (task.error !== undefined) break;
      }
      if (problem === '' && task.error === undefined) {
        for await (const time of feeder.finish((last) => endOf(input, last))) {
          yield* messages.take(time);
        }
      }
    } catch (error) {
      // The output so far has been sent; this adds why it ends.
      problem = messageOf(limit.signal.aborted ? limit.signal.reason : error);
    } finally {
      limit.end();
      await source.return?.();
      if (task?.error === undefined) await task?.close();
    }
    await task?.refresh();
    yield* messages.take(undefined);
    yield messages.end({
      count,
      problem: task?.error ?? problem,
      stats: task === undefined ? {} : printTaskStats({ task, throughput: 0 }),
    });
  }

  #make(
    record: TaskRecord,
    { pipeline }: Definition,
    { start, messages }: { readonly start: Timestamp; readonly messages: Messages },
  ): RunningTask {
    const { servicesOf, alerts, createTask, setting } = this.#options;
    const handlersOf = (topic: string): readonly string[] =>
      alerts.handlers(topic)?.flatMap(({ actions }) => actions.map(({ kind }) => kind)) ?? [];
    const services = recordingServices({
      real: servicesOf(record.id),
      handlersOf,
      record: (tried) => messages.tried(tried),
    });
    const timers = new VirtualTimers(start);
    // Nothing is published; the scope only separates what task hosts remember.
    const options = { taskId: record.id, scope: 'try-out', timers, isReplay: true };
    return makeTask(createTask, pipeline, {
      services,
      options: taskOptions({ ...setting, alerts: () => this.#alertDefaults() }, options),
    });
  }

  /** An alert without handlers is shown, too: perhaps its handlers are still missing. */
  #alertDefaults(): AlertDefaults {
    const isStateChangesOnly = this.#options.setting.alerts?.().isStateChangesOnly ?? false;
    return { hasGlobalHandlers: true, isStateChangesOnly };
  }
}

/** Gives a task its data, each part when the clock has reached it. */
class Feeder {
  readonly #task: RunningTask;
  readonly #nodes: readonly { readonly name: string }[];
  readonly #signal: AbortSignal;
  #waiting: RecordedPoint[] = [];
  #time: Timestamp;

  constructor(
    task: RunningTask,
    { type, pipeline }: Definition,
    { start, signal }: { readonly start: Timestamp; readonly signal: AbortSignal },
  ) {
    this.#task = task;
    this.#nodes = type === 'batch' ? queryNodesOf(pipeline) : [];
    this.#signal = signal;
    this.#time = start;
  }

  /** The present time of the clock. */
  get time(): Timestamp {
    return this.#time;
  }

  /** Returns whether the task was given something; points are collected first. */
  async add(entry: Entry): Promise<boolean> {
    if (!('line' in entry)) {
      await this.#result(entry);
      return true;
    }
    const [first] = this.#waiting;
    const isSamePolicy =
      first === undefined ||
      (first.database === entry.database && first.retentionPolicy === entry.retentionPolicy);
    const isDue = !isSamePolicy || this.#waiting.length >= POINTS_PER_STEP;
    if (isDue) await this.#flush();
    this.#waiting.push(entry);
    return isDue;
  }

  /** Gives the collected points, then moves the clock to the end. */
  async *finish(endBehind: (last: Timestamp) => Timestamp): AsyncIterable<Timestamp> {
    await this.#flush();
    yield this.#time;
    const from = this.#time;
    const end = endBehind(from);
    for (let step = 1n; step <= CLOCK_STEPS && this.#time < end; step++) {
      this.#advance(from + ((end - from) * step) / CLOCK_STEPS);
      await this.#settle();
      yield this.#time;
    }
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const times = this.#waiting.map(({ line }) => timeOfLine(line));
    const batch = batchOf(this.#waiting, 0n);
    this.#waiting = [];
    this.#task.pushDue(batch, { offset: 0n });
    for (const time of times) if (time > this.#time) this.#time = time;
    await this.#settle();
  }

  async #result({ query, stop, series }: RecordedResult): Promise<void> {
    const node = this.#nodes[query] ?? this.#nodes[0];
    assert(node !== undefined, 'a batch task has a query');
    const last = lastTime(series) ?? stop;
    const end = last > stop ? last : stop;
    this.#advance(end);
    this.#task.pushQueryResult(node.name, series, { stop: end });
    await this.#settle();
  }

  #advance(time: Timestamp): void {
    if (time <= this.#time) return;
    this.#task.advanceTo(time);
    this.#time = time;
  }

  /** Waits for the task, but only while the client waits for the answer. */
  async #settle(): Promise<void> {
    const signal = this.#signal;
    signal.throwIfAborted();
    if (this.#task.error !== undefined) return;
    try {
      await untilAborted(this.#task.drain(), signal);
      signal.throwIfAborted();
    } catch (error) {
      // A task that has ended cannot be queried; its own error says why.
      if (this.#task.error === undefined) throw error;
    }
  }
}

/** The start of the clock; `undefined` if there is no data to determine it. */
function startOf({ source }: TryOutInput, first: Entry | undefined): Timestamp | undefined {
  if (source.kind === 'database') return source.start;
  if (first === undefined) return undefined;
  return 'line' in first ? timeOfLine(first.line) : first.stop;
}

function endOf({ source, goesOnNanos }: TryOutInput, last: Timestamp): Timestamp {
  return (source.kind === 'database' ? source.stop : last) + goesOnNanos;
}

function tooMuch(count: number): string {
  return `stopped after ${count} points or answers: a try-out accepts ${TRY_OUT_POINTS.value} and returns ${TRY_OUT_LINES.value} messages; use less data`;
}

function printHead(
  { id }: TaskRecord,
  { type, dbrps, pipeline, warnings }: Definition,
  start: Timestamp,
): string {
  const head = {
    kind: 'task',
    id,
    type,
    dbrps,
    start: formatRfc3339(start),
    nodes: pipeline.nodes.map((node) => ({
      name: node.name,
      type: node.type,
      isAlerting: effectsOf(node).publishesTo !== undefined,
    })),
    dot: formatDot(id, pipeline),
    warnings: warnings().map(({ message }) => message),
  };
  return `${printJson(head)}\n`;
}
