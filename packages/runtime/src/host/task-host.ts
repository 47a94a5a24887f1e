// A task host: runs tasks in this thread for the engine's thread, in time slices, and reports their
// output.
import { serialize } from 'node:v8';
import { messageOf, unreachable } from '@tidemark/core';
import { Inhibitions } from '../inhibitions.ts';
import type { Clock } from '@tidemark/core';
import { RowSource } from '../data/row-source.ts';
import { SeriesTable } from '../data/series.ts';
import { StartError } from '../node.ts';
import type { InlineTask } from '../task.ts';
import { createTask } from '../task.ts';
import { VirtualTimers } from '../timers.ts';
import { BatchUnpacker, packedBytes } from './batch-codec.ts';
import { HostTask, SharedRows } from './host-task.ts';
import type { Step } from './host-task.ts';
import type { HostCalls } from './host-services.ts';
import { EventStates, hostServices, Sideloaded } from './host-services.ts';
import { HostTaps } from './host-taps.ts';
import type {
  AnyRows,
  Answers,
  FromHost,
  HostData,
  HostItem,
  ServiceCall,
  FinalTaskState,
  TaskRequest,
  TaskStart,
  ToHost,
} from './protocol.ts';
import { makesWork, StatusCell } from './protocol.ts';
import { RememberedBatches } from './remembered-batches.ts';
import { ServiceCalls } from './service-calls.ts';
import { TaskTurns } from './task-turns.ts';
import { udfConnector } from './udf-connector.ts';

/** Beyond this many items that the engine's thread has not handled, tasks wait. */
const UNHANDLED_ITEMS_MAX = 10_000;
/** How long an answer about a task waits for earlier messages to the task. */
const ANSWER_WAIT_MS = 100;

export type TaskHostOptions = Pick<HostData, 'functions' | 'server'> & {
  readonly clock: Clock;
  /** See `StatusCell`. */
  readonly status: Int32Array;
  readonly post: (message: FromHost) => void;
};

export class TaskHost implements HostCalls {
  readonly #options: TaskHostOptions;
  readonly #series = new SeriesTable();
  readonly #unpacker = new BatchUnpacker(this.#series);
  readonly #remembered = new RememberedBatches<SharedRows>();
  readonly #eventStates = new EventStates();
  readonly #inhibitions = new Inhibitions();
  readonly #sideloaded = new Sideloaded();
  readonly #udf: ReturnType<typeof udfConnector>;
  readonly #tasks = new Map<number, HostTask>();
  readonly #turns: TaskTurns;
  readonly #taps: HostTaps;
  readonly #calls = new ServiceCalls((item) => this.tell(item));
  #items: HostItem[] = [];
  #unhandledCount = 0;
  #isFlushDue = false;

  constructor(options: TaskHostOptions) {
    this.#options = options;
    this.#turns = new TaskTurns({
      clock: options.clock,
      isHeldUp: () => this.#unhandledCount > UNHANDLED_ITEMS_MAX,
      afterRound: () => {
        this.#leave();
        this.#flush();
      },
    });
    this.#taps = new HostTaps({
      unhandledCount: () => this.#unhandledCount,
      scheduleFlush: () => this.#scheduleFlush(),
    });
    this.#udf = udfConnector(options.functions, (functionName, line) =>
      this.tell({ kind: 'udf-line', functionName, line }),
    );
  }

  handle(message: ToHost): void {
    if (makesWork(message)) this.#works();
    switch (message.kind) {
      case 'request':
        this.#request(message.id, message.task, message.request);
        break;
      case 'rows':
        for (const entry of message.entries) this.#rows(entry);
        break;
      case 'result':
        this.#result(message);
        break;
      case 'advance':
        this.#step(message.task, (task) => advance(task, message.time));
        break;
      case 'live':
        this.#step(message.task, (task) => task.goLive());
        break;
      case 'query-failed':
        this.#step(message.task, (task) => task.queryFailed(message.nodeName, message.message));
        break;
      case 'discard':
        this.#discard(message.task);
        break;
      case 'tap':
        this.#tap(message);
        break;
      case 'untap':
        this.#taps.stop(message.tap);
        break;
      case 'reply':
        this.#calls.reply(message.id, message.value);
        break;
      case 'refusal':
        this.#calls.refuse(message.id, message.message);
        break;
      case 'documents':
        this.#sideloaded.set(message.source, message.documents);
        break;
      case 'topic':
        this.#eventStates.open(message.topic, message.states);
        break;
      case 'topic-closed':
        this.#eventStates.close(message.topic);
        break;
      case 'event-state':
        if (message.eventId === undefined || message.state === undefined) {
          this.#eventStates.clear(message.topic);
        } else this.#eventStates.set(message.topic, message.eventId, message.state);
        break;
      case 'inhibition':
        this.#inhibitions.set(message.inhibition, message.isActive);
        break;
      case 'handled':
        this.#unhandledCount -= message.count;
        this.#turns.schedule();
        break;
      case 'ping':
        this.#pong(message.id);
        break;
      default:
        unreachable(message);
    }
  }

  tell(item: HostItem): void {
    if (item.kind !== 'answer' && item.kind !== 'fault') this.#works();
    this.#items.push(item);
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    // The messages of one slice, one answer or one timer are sent together.
    queueMicrotask(() => this.#flush());
  }

  call(task: number, call: ServiceCall, signal?: AbortSignal): Promise<unknown> {
    return this.#calls.call(task, call, signal);
  }

  #result({ task: id, nodeName, series, stop, rowCount }: ToHost & { kind: 'result' }): void {
    const task = this.#tasks.get(id);
    this.#step(id, (inline) => {
      inline.pushQueryResult(nodeName, series, { stop });
      if (task !== undefined) task.takenRows += rowCount;
    });
  }

  #rows(entry: AnyRows): void {
    const { tasks, due } = entry;
    const shared = this.#shared(entry);
    for (const id of tasks) {
      const task = this.#tasks.get(id);
      if (task === undefined) shared.release();
      else {
        task.addRows(shared, due);
        this.#turns.add(task);
      }
    }
  }

  /** In use by the tasks of the entry. */
  #shared(entry: AnyRows): SharedRows {
    const { tasks, isKept } = entry;
    if ('number' in entry) {
      const known = this.#remembered.get(entry.number);
      known.retain(tasks.length);
      if (!isKept) this.#remembered.forget(entry.number);
      return known;
    }
    // Series must be learned even when no task is left for the rows.
    const { batch, series } = this.#unpacker.unpack(entry.batch);
    const shared = new SharedRows(new RowSource(batch, this.#series, series));
    shared.retain(tasks.length);
    if (isKept) this.#remembered.add(shared, packedBytes(entry.batch));
    return shared;
  }

  #step(id: number, run: Step['run'], drop?: Step['drop']): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    task.addStep({ run, drop });
    this.#turns.add(task);
  }

  #flush(): void {
    this.#isFlushDue = false;
    const taken = this.#taken();
    const items = this.#items;
    items.push(...this.#taps.take());
    if (items.length === 0 && taken === undefined) return;
    this.#items = [];
    this.#unhandledCount += items.length;
    this.#options.post({ kind: 'items', items, taken });
  }

  #taken(): Uint32Array | undefined {
    let pairs: number[] | undefined;
    for (const task of this.#tasks.values()) {
      if (task.takenRows === 0) continue;
      (pairs ??= []).push(task.id, task.takenRows);
      task.takenRows = 0;
    }
    return pairs === undefined ? undefined : Uint32Array.from(pairs);
  }

  #request(id: number, taskId: number, request: TaskRequest): void {
    if (request.name === 'start') {
      this.#start(id, taskId, request.start);
      return;
    }
    const task = this.#tasks.get(taskId);
    const running = task?.task;
    switch (request.name) {
      case 'stats':
        if (running === undefined) this.#fault(id, new Error('task is not running'));
        else this.#answerSoon(id, taskId, () => running.stats() satisfies Answers['stats']);
        break;
      case 'output':
        this.#answerSoon(
          id,
          taskId,
          () => running?.httpOutput(request.endpoint) satisfies Answers['output'],
        );
        break;
      case 'alert-groups':
        this.#answerSoon(
          id,
          taskId,
          () => running?.alertGroups(request.nodeName) satisfies Answers['alert-groups'],
        );
        break;
      case 'drain':
        this.#answerStep(id, taskId, (inline) => inline.drain());
        break;
      case 'settle':
        // An answer may never come: what is asked next does not wait for it.
        this.#answerStep(id, taskId, (inline) => inline.settle(), { isAwaited: false });
        break;
      case 'state':
        this.#answerStep(id, taskId, async (inline) => serialize(await inline.takeState()));
        break;
      case 'close':
        this.#answerStep(id, taskId, async (inline) => {
          await inline.close();
          const left = remains(inline, task?.isReplay === true);
          this.#forget(taskId);
          return left satisfies Answers['close'];
        });
        break;
    }
  }

  /**
   * Answers after earlier messages, so that a client sees what it has written; for a busy task it
   * answers earlier.
   */
  #answerSoon(id: number, taskId: number, value: () => unknown): void {
    const task = this.#tasks.get(taskId);
    if (task === undefined || !task.hasWork) {
      this.#answer(id, value());
      return;
    }
    const answered = new AbortController();
    const answer = (): void => {
      if (answered.signal.aborted) return;
      answered.abort();
      this.#answer(id, value());
    };
    // Ends early with the answer.
    this.#options.clock.sleep(ANSWER_WAIT_MS, answered.signal).then(answer, () => undefined);
    this.#step(taskId, answer);
  }

  /** Later messages of the task wait until it is answered, unless `isAwaited` is false. */
  #answerStep(
    id: number,
    taskId: number,
    run: (task: InlineTask) => Promise<unknown>,
    { isAwaited }: { readonly isAwaited: boolean } = { isAwaited: true },
  ): void {
    const refuse = (): void => this.#fault(id, new Error('task is not running'));
    if (this.#tasks.get(taskId) === undefined) {
      refuse();
      return;
    }
    const answer = async (task: InlineTask): Promise<void> => {
      try {
        this.#answer(id, await run(task));
      } catch (cause) {
        this.#fault(id, cause);
      }
    };
    // It handles its failures.
    this.#step(taskId, isAwaited ? answer : (task) => void answer(task), refuse);
  }

  #start(id: number, taskId: number, start: TaskStart): void {
    const task: HostTask = new HostTask(taskId, {
      isReplay: start.isReplay,
      clock: this.#options.clock,
      wake: () => this.#turns.add(task),
    });
    this.#tasks.set(taskId, task);
    this.#open(task, start).then(
      (stats) => this.#answer(id, stats satisfies Answers['start']),
      (cause: unknown) => {
        this.#forget(taskId);
        this.#fault(id, cause);
      },
    );
  }

  async #open(hostTask: HostTask, { state, ...start }: TaskStart): Promise<Answers['start']> {
    const { clock, status, server } = this.#options;
    status[StatusCell.CurrentTask] = hostTask.id;
    const task = createTask(
      start.pipeline,
      hostServices({
        task: hostTask.id,
        start,
        outside: this,
        eventStates: this.#eventStates,
        inhibitions: this.#inhibitions,
        sideloaded: this.#sideloaded,
        udf: this.#udf,
        server,
      }),
      {
        taskId: start.taskId,
        scope: start.scope,
        part: start.part,
        clock,
        timers:
          start.virtualStart === undefined ? undefined : new VirtualTimers(start.virtualStart),
        position: start.position,
        rerun: start.rerun,
        limits: start.limits,
        alerts: start.alerts,
      },
      {
        series: this.#series,
        enter: () => {
          status[StatusCell.CurrentTask] = hostTask.id;
          this.#works();
        },
      },
    );
    task.onError((error) => {
      const left = remains(task, hostTask.isReplay);
      this.tell({ kind: 'failed', task: hostTask.id, error, remains: left });
      // Not in the middle of its turn.
      queueMicrotask(() => this.#forget(hostTask.id));
    });
    if (state !== undefined) task.restore(state);
    try {
      await task.start();
    } catch (cause) {
      await task.close();
      throw cause;
    }
    // It may have been discarded while it started.
    if (this.#tasks.get(hostTask.id) !== hostTask) {
      await task.close();
      throw new Error('task was stopped while it started');
    }
    hostTask.begin(task);
    this.#leave();
    return task.stats();
  }

  /**
   * Counters change in this turn: nodes process messages, get answers or send something, at least a
   * failure.
   */
  #works(): void {
    Atomics.add(this.#options.status, StatusCell.Work, 1);
  }

  /** No task is being worked for. */
  #leave(): void {
    this.#options.status[StatusCell.CurrentTask] = 0;
  }

  #forget(id: number): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    task.end();
    this.#flush();
    this.#tasks.delete(id);
  }

  #discard(id: number): void {
    const task = this.#tasks.get(id);
    this.#forget(id);
    // The engine's thread does not wait any more; its nodes release their resources when they can.
    task?.task?.close().catch((cause: unknown) => {
      this.tell({
        kind: 'log',
        task: id,
        level: 'error',
        nodeName: '',
        message: 'failed to close',
        context: { err: messageOf(cause) },
      });
    });
  }

  #tap(message: ToHost & { kind: 'tap' }): void {
    const task = this.#tasks.get(message.task)?.task;
    if (task !== undefined) this.#taps.start(task, message);
    // It is starting.
    else this.#step(message.task, () => this.#tap(message));
  }

  #pong(id: number): void {
    // Timers of tasks set the current task too.
    this.#leave();
    const collected: (readonly [number, number])[] = [];
    const busyMs: (readonly [number, number])[] = [];
    for (const task of this.#tasks.values()) {
      const activity = task.task?.activityCount ?? 0;
      if (activity !== task.reportedActivity) {
        task.reportedActivity = activity;
        collected.push([task.id, task.task?.collectedCount ?? 0]);
      }
      if (task.busyMs > 0) busyMs.push([task.id, task.busyMs]);
      task.busyMs = 0;
    }
    this.#options.post({ kind: 'pong', id, collected, busyMs });
  }

  #answer(id: number, value: unknown): void {
    this.tell({ kind: 'answer', id, value });
  }

  #fault(id: number, cause: unknown): void {
    const start = cause instanceof StartError ? { start: cause.details } : {};
    this.tell({ kind: 'fault', id, message: messageOf(cause), ...start });
  }
}

function remains(task: InlineTask, isReplay: boolean): FinalTaskState {
  const stats = task.stats();
  // Only the outputs of replays are requested after their end; with many groups they are large.
  if (!isReplay) return { stats, outputs: undefined };
  const outputs = task.httpEndpoints.map(
    (endpoint) => [endpoint, task.httpOutput(endpoint) ?? null] as const,
  );
  return { stats, outputs: new Map(outputs) };
}

/**
 * Moves the time of a task, with turns for others in between: there may be many timers on the way.
 */
async function advance(task: InlineTask, time: bigint): Promise<void> {
  while (!task.advanceSome(time)) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
