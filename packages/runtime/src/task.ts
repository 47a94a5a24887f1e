// A task in this thread: feeds the nodes of a pipeline, and keeps failures inside.
import { assert, AssertionFailed, messageOf } from '@tidemark/core';
import { measurementsOf } from '@tidemark/pipeline';
import type { Pipeline } from '@tidemark/pipeline';
import { rowNumber } from './data/row-selection.ts';
import type { RowSelection } from './data/row-selection.ts';
import type { RowSource } from './data/row-source.ts';
import { nextSequence, openRows } from './data/row-source.ts';
import { SeriesTable } from './data/series.ts';
import type { Group } from './data/group.ts';
import { GroupTable } from './data/group.ts';
import { buildNodes } from './build-nodes.ts';
import { Sampler } from './edge.ts';
import { HeldPoints } from './held-points.ts';
import { IdleGroups } from './idle-groups.ts';
import { inhibitionsIn } from './inhibitions.ts';
import { DEFAULT_TASK_LIMITS } from './limits.ts';
import { causeOf, replayedRow } from './event-cause.ts';
import type { EventCause, ReplayedRow } from './event-cause.ts';
import type { TaskContext } from './node.ts';
import { NodeFailed, startErrorOf } from './node.ts';
import type { NodeHandle } from './node-handle.ts';
import { nodeStats } from './node-stats.ts';
import type { ResultReceiver, Waiting } from './node-capabilities.ts';
import { PartFilter, unitName } from './part.ts';
import type { PointBatch } from './point-batch.ts';
import { RowFeed } from './row-feed.ts';
import type {
  Due,
  AlertGroups,
  EndpointRows,
  Rerun,
  RunningTask,
  TapMessage,
  TapOptions,
  TaskReach,
  TaskLimits,
  TaskOptions,
  TaskSnapshot,
  TaskState,
  TaskStats,
} from './running-task.ts';
import type { QueryResultSeries, TaskServices } from './services.ts';
import { tapNode } from './tap.ts';
import { decodeState, PositionKeeper } from './position.ts';
import { clockTimers, RerunTimers, VirtualTimers } from './timers.ts';
import type { Timers } from './timers.ts';

/** Shared by the tasks of one thread. */
export type TaskThread = {
  readonly series: SeriesTable;
  /**
   * Called whenever nodes of the task begin to work: an observer of the thread then knows the
   * current task.
   */
  readonly enter?: (() => void) | undefined;
};

/** Timers that fire before a task that is moved in time lets others have their turn. */
const TIMERS_PER_TURN = 1000;

/** Builds a task. Throws `StartError` with the recorded text when a node cannot be made. */
export function createTask(
  pipeline: Pipeline,
  services: TaskServices,
  options: TaskOptions,
  thread: TaskThread = { series: new SeriesTable() },
): InlineTask {
  return new InlineTask(pipeline, services, { options, thread });
}

export class InlineTask implements RunningTask {
  readonly taskId: string;
  readonly measurements: ReadonlySet<string>;
  readonly #context: TaskContext;
  readonly #handles: readonly NodeHandle[];
  readonly #feed: RowFeed;
  readonly #waiting: readonly Waiting[];
  readonly #sampler: Sampler;
  readonly #limits: TaskLimits;
  readonly #held: HeldPoints;
  readonly #idle: IdleGroups;
  readonly #enter: (() => void) | undefined;
  readonly #timers: Timers;
  readonly #rerun: Rerun | undefined;
  readonly #position: PositionKeeper | undefined;
  readonly #errorListeners: ((error: string) => void)[] = [];
  #source: RowSource | undefined;
  #writeSequence = 0;
  #error: string | undefined;
  #newest: bigint | undefined;
  #isClosed = false;
  #released: Promise<void> | undefined;

  constructor(
    pipeline: Pipeline,
    services: TaskServices,
    setup: { readonly options: TaskOptions; readonly thread: TaskThread },
  ) {
    const { options, thread } = setup;
    this.taskId = options.taskId;
    this.#enter = thread.enter;
    const timers = options.timers ?? clockTimers(options.clock);
    const { rerun } = options;
    this.#rerun = rerun;
    this.#timers = rerun === undefined ? timers : new RerunTimers(rerun.now, timers);
    this.#position =
      options.position &&
      new PositionKeeper(thread.series, { ...options.position, begun: this.#timers.now() });
    this.#limits = { ...DEFAULT_TASK_LIMITS, ...options.limits };
    this.#held = new HeldPoints(this.#limits);
    this.#idle = new IdleGroups(this.#limits.groupIdleMs, this.#timers, (isIdle) =>
      this.#forgetIdle(isIdle),
    );
    this.#sampler = new Sampler(options.clock);
    this.#context = this.#makeContext(pipeline, services, { options, thread });
    const shared = { context: this.#context, sampler: this.#sampler };
    this.#handles = buildNodes(pipeline, shared);
    this.#feed = new RowFeed(this.#handles, shared);
    this.measurements = measurementsOf(pipeline);
    this.#waiting = this.#handles.flatMap(({ node }) => node?.capabilities.waiting ?? []);
  }

  get error(): string | undefined {
    return this.#error;
  }

  get httpEndpoints(): readonly string[] {
    return [...this.#context.httpOutputs.keys()];
  }

  onError(listener: (error: string) => void): void {
    this.#errorListeners.push(listener);
  }

  /** The thread of the task is the caller's own. */
  onRestarted(_listener: (reason: string | undefined) => void): void {}

  get taker(): undefined {
    return undefined;
  }

  async start(): Promise<void> {
    for (const { node, spec } of this.#handles) {
      try {
        await node?.capabilities.starting?.start();
      } catch (cause) {
        throw startErrorOf(spec.name, cause);
      }
    }
    this.#idle.start();
  }

  get reached(): TaskReach {
    return { newest: this.#newest, waitingRows: 0 };
  }

  push(batch: PointBatch): void {
    this.#newest = batch.times[batch.rowCount - 1];
    const source = openRows(batch, this.#context.series);
    const selection = this.select(source);
    this.pushRows(selection, 0, selection.count);
    source.settle();
  }

  /** The rows of a write that the task reads. */
  select(source: RowSource): RowSelection {
    return source.select(this.measurements);
  }

  /**
   * As `push`, with some of the task's rows of a write that several tasks of this thread read. The
   * caller settles it after all of them. Without rows, only its record counts.
   */
  pushRows(selection: RowSelection, start: number, end: number): void {
    this.#position?.note(selection, start, end);
    if (start < end) this.#run(selection.source, () => this.#feed.push(selection, start, end));
  }

  pushDue(batch: PointBatch, due: Due): void {
    this.#newest = batch.times[batch.rowCount - 1];
    const source = openRows(batch, this.#context.series);
    const selection = this.select(source);
    const { count: end } = selection;
    for (let start = 0; start !== end;) {
      start = this.pushDueRows(selection, { due, start, end }) ?? start;
    }
    source.settle();
  }

  /**
   * As `pushRows`, each row when it is due. Returns where to continue; `undefined` when no row was
   * due yet: there may be many timers before one.
   */
  pushDueRows(
    selection: RowSelection,
    rows: { readonly due: Due; readonly start: number; readonly end: number },
  ): number | undefined {
    const { due, start, end } = rows;
    if ('at' in due) {
      if (!this.advanceSome(due.at)) return undefined;
      this.pushRows(selection, start, end);
      return end;
    }
    const timeAt = (at: number): bigint => selection.source.timeAt(rowNumber(selection, at));
    for (let at = start; at < end;) {
      const time = timeAt(at);
      if (!this.advanceSome(time + due.offset)) return at === start ? undefined : at;
      let next = at + 1;
      while (next < end && timeAt(next) === time) next++;
      this.pushRows(selection, at, next);
      at = next;
    }
    return end;
  }

  advanceTo(time: bigint): void {
    while (!this.advanceSome(time));
  }

  /** As `advanceTo`, for one turn; false when it has to continue. */
  advanceSome(time: bigint): boolean {
    const virtual = this.#virtual();
    assert(virtual !== undefined, 'only virtual time can be moved');
    return virtual.advanceSome(time, TIMERS_PER_TURN);
  }

  goLive(): void {
    if (this.#timers instanceof RerunTimers) this.#timers.goLive();
  }

  #virtual(): VirtualTimers | undefined {
    if (this.#timers instanceof VirtualTimers) return this.#timers;
    return this.#timers instanceof RerunTimers ? this.#timers.virtual : undefined;
  }

  #isRerun(): boolean {
    return this.#timers instanceof RerunTimers && !this.#timers.isLive;
  }

  pushQueryResult(
    nodeName: string,
    result: readonly QueryResultSeries[],
    options: { readonly stop: bigint },
  ): void {
    const results = this.#resultReceiver(nodeName);
    this.#newest = options.stop;
    this.#position?.noteQuery(nodeName, options.stop);
    this.#run(undefined, () => results.result(result, options.stop));
  }

  queryFailed(nodeName: string, message: string): void {
    this.#resultReceiver(nodeName).failed(message);
  }

  ready(): Promise<void> | undefined {
    return this.#waitingCount() > this.#limits.waitingMessageCountMax ? this.drain() : undefined;
  }

  /** `push` returns after processing. */
  processed(): undefined {
    return undefined;
  }

  async drain(): Promise<void> {
    while (this.#waitingCount() > 0) {
      for (const waiting of this.#waiting) if (waiting.waitingCount > 0) await waiting.idle();
    }
  }

  async settle(): Promise<void> {
    for (const { node } of this.#handles) node?.capabilities.buffering?.flush();
    await this.drain();
  }

  async close(givenAll?: Promise<void>): Promise<void> {
    await givenAll;
    if (this.#isClosed) return this.#released;
    for (const handle of this.#handles) {
      const { waiting, outside, inputs } = handle.node?.capabilities ?? {};
      // Messages from outside may still arrive for this node; its children end after it.
      if (this.#error === undefined) await waiting?.idle();
      if (this.#error === undefined) await outside?.finishing();
      this.#run(undefined, () => inputs?.finish());
    }
    await this.drain();
    await this.#release();
  }

  stats(): TaskStats {
    return {
      ...nodeStats(this.#handles, this.#feed.count),
      collected: this.collectedCount,
      heldPointCount: this.#held.count,
      heldBytes: this.#held.bytes,
      groupCount: this.#context.groups.count,
    };
  }

  refresh(): Promise<void> {
    return Promise.resolve();
  }

  /** Points (batches) that entered the task: the part of its statistics that costs nothing. */
  get collectedCount(): number {
    return this.#handles[0]?.outputs[0]?.count ?? 0;
  }

  /** Increases with everything that any node does. */
  get activityCount(): number {
    let count = 0;
    for (const { outputs } of this.#handles) for (const edge of outputs) count += edge.count;
    return count;
  }

  httpOutput(endpoint: string): EndpointRows | undefined {
    return this.#context.httpOutputs.get(endpoint)?.();
  }

  alertGroups(nodeName: string): AlertGroups | undefined {
    const handle = this.#handles.find(({ name }) => name === nodeName);
    return handle?.node?.capabilities.alerting?.alertGroups();
  }

  async takeState(): Promise<TaskSnapshot> {
    await this.prepareSnapshot();
    return this.snapshot();
  }

  /** Called before `snapshot` if external state is to be part of it. */
  async prepareSnapshot(): Promise<void> {
    if (this.#error !== undefined || this.#isClosed) return;
    for (const { node } of this.#handles) {
      await node?.capabilities.outside?.prepareSnapshot();
    }
  }

  snapshot(): TaskSnapshot {
    const nodes: { name: string; state: unknown }[] = [];
    for (const { name, node } of this.#handles) {
      const state = node?.capabilities.state?.snapshot();
      if (state !== undefined) nodes.push({ name, state });
    }
    const position = this.#position?.encode(this.#timers.now());
    return position === undefined ? { version: 1, nodes } : { version: 1, nodes, position };
  }

  restore(state: TaskState): void {
    const snapshot = decodeState(state);
    assert(snapshot.version === 1, 'the snapshot is of this version');
    this.#position?.restore(snapshot.position);
    const byName = new Map(this.#handles.map((handle) => [handle.name, handle]));
    for (const { name, state } of snapshot.nodes) {
      byName.get(name)?.node?.capabilities.state?.restore(state);
    }
  }

  tap(
    nodeName: string,
    listener: (message: TapMessage) => void,
    options: TapOptions = {},
  ): () => void {
    const handle = this.#handles.find(({ name }) => name === nodeName);
    assert(handle !== undefined, 'the tapped node exists');
    return tapNode(handle, listener, options);
  }

  /** Releases a group in all nodes, as a barrier with `delete` does for the nodes below it. */
  deleteGroup(id: string): void {
    const group = this.#context.groups.get(id);
    if (group === undefined) return;
    this.#run(undefined, () => this.#forget(group));
  }

  #forget(group: Group): void {
    // For every node: groups of a later groupBy are unknown above it. A second call does no harm.
    for (const { node } of this.#handles) node?.deleteGroup(group);
    this.#context.groups.release(group);
  }

  /** False when the task has ended. */
  #forgetIdle(isIdle: (group: Group) => boolean): boolean {
    this.#run(undefined, () => {
      for (const group of this.#context.groups.list()) if (isIdle(group)) this.#forget(group);
    });
    return !this.#isClosed && this.#error === undefined;
  }

  #makeContext(
    pipeline: Pipeline,
    services: TaskServices,
    setup: { readonly options: TaskOptions; readonly thread: TaskThread },
  ): TaskContext {
    const { options, thread } = setup;
    const timers = this.#timers;
    const rerun = (): Rerun | undefined => (this.#isRerun() ? this.#rerun : undefined);
    const sequence = (): number => this.#writeSequence;
    const sweep = (): number => this.#idle.sweep;
    const rowCount = (): number => this.#source?.rowCount ?? 0;
    const unit = unitName(options.taskId, options.part);
    const last = this.#rerun && services.alerts.lastCause(unit);
    const cause = (): EventCause | undefined => causeOf(unit, this.#source);
    const replayed = (): ReplayedRow | undefined =>
      replayedRow(cause(), { record: rerun()?.record, last });
    return {
      taskId: options.taskId,
      unit,
      scope: options.scope ?? 'main',
      services,
      timers,
      outsideTimers: clockTimers(options.clock),
      series: thread.series,
      part: options.part && new PartFilter(options.part, thread.series),
      groups: new GroupTable(thread.series, this.#limits.groupCountMax),
      limits: this.#limits,
      alerts: options.alerts ?? { hasGlobalHandlers: false, isStateChangesOnly: false },
      dbrps: pipeline.dbrps,
      callContext: { now: () => timers.now(), random: () => Math.random() },
      httpOutputs: new Map(),
      inhibitions: inhibitionsIn(options.scope, services.alerts),
      get rerun(): Rerun | undefined {
        return rerun();
      },
      cause,
      replayed,
      get sweep(): number {
        return sweep();
      },
      get writeSequence(): number {
        return sequence();
      },
      hold: (point) => this.#held.hold(point, this.#source),
      release: (point) => this.#held.release(point, this.#source),
      holdRow: (fieldCount) => this.#held.holdRow(fieldCount),
      releaseRows: (count, fieldCount) => this.#held.releaseRows(count, fieldCount),
      get writeRowCount(): number {
        return rowCount();
      },
      guard: (callback) => this.#run(undefined, callback),
      outputEdge: (nodeId) => this.#handles[nodeId]?.tapEdge,
    };
  }

  #resultReceiver(nodeName: string): ResultReceiver {
    const node = this.#handles.find(({ name }) => name === nodeName)?.node;
    const results = node?.capabilities.results;
    assert(results !== undefined, 'results are pushed to nodes that take them');
    return results;
  }

  #waitingCount(): number {
    let count = 0;
    for (const { waitingCount } of this.#waiting) count += waitingCount;
    return this.#error === undefined ? count : 0;
  }

  /** Every entry into the nodes: a failure ends the task with its reason. */
  #run(source: RowSource | undefined, work: () => void): void {
    if (this.#error !== undefined || this.#isClosed) return;
    this.#writeSequence = source?.sequence ?? nextSequence();
    this.#source = source;
    this.#enter?.();
    try {
      work();
    } catch (cause) {
      this.#sampler.isOn = false;
      this.#fail(cause);
    } finally {
      this.#source = undefined;
    }
  }

  #fail(cause: unknown): void {
    // A failed assertion is a bug, not the task's fault: the thread stops.
    if (cause instanceof AssertionFailed) throw cause;
    const message = messageOf(cause);
    const nodeName = cause instanceof NodeFailed ? cause.nodeName : '';
    this.#error = message;
    this.#context.services.log.log('error', nodeName, 'node failed', { err: message });
    for (const listener of this.#errorListeners) listener(message);
    // Timers, processes and buffers of an ended task must not stay; it is not closed again.
    void this.#release();
  }

  #release(): Promise<void> {
    this.#isClosed = true;
    this.#idle.stop();
    this.#released ??= this.#closeNodes();
    return this.#released;
  }

  async #closeNodes(): Promise<void> {
    for (const handle of this.#handles) {
      try {
        await handle.node?.capabilities.closing?.close();
      } catch (cause) {
        handle.fail('failed to close', messageOf(cause));
      }
    }
  }
}
