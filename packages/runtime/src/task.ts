// A task in this thread: builds the nodes of a pipeline, feeds them, and keeps failures inside.
import { assert, AssertionFailed, messageOf } from '@tidemark/core';
import { measurementsOf } from '@tidemark/pipeline';
import type { NodeSpec, Pipeline } from '@tidemark/pipeline';
import { rowPoint } from './data/row-point.ts';
import { countOfPart, rowNumber } from './data/row-selection.ts';
import type { RowSelection } from './data/row-selection.ts';
import { nextSequence, RowSource } from './data/row-source.ts';
import { SeriesTable } from './data/series.ts';
import type { Group } from './data/group.ts';
import { GroupTable, NO_DIMENSIONS } from './data/group.ts';
import type { Point } from './data/point.ts';
import { heldBytesOf } from './data/point.ts';
import { Edge, ExecutionTime, FanOut, NO_OUTPUT, Sampler } from './edge.ts';
import { inhibitionsIn } from './inhibitions.ts';
import { DEFAULT_TASK_LIMITS, SAMPLE_EVERY_ROWS, SAMPLE_ROWS } from './limits.ts';
import { causeOf, replayedRow } from './event-cause.ts';
import type { EventCause, ReplayedRow } from './event-cause.ts';
import type { Receiver, TaskContext } from './node.ts';
import { NodeFailed, StartError, startErrorOf } from './node.ts';
import { NodeHandle } from './node-handle.ts';
import { createNode } from './implementations.ts';
import type { ResultReceiver, RowReceiver, Waiting } from './node-capabilities.ts';
import { PartFilter, unitName } from './part.ts';
import type { PointBatch } from './point-batch.ts';
import type {
  Due,
  EdgeStats,
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
import { isWatched, tapObserver } from './tap.ts';
import { decodeState, PositionKeeper } from './position.ts';
import { clockTimers, RerunTimers, VirtualTimers } from './timers.ts';
import type { CancelTimer, Timers } from './timers.ts';

/** Shared by the tasks of one thread. */
export type TaskThread = {
  readonly series: SeriesTable;
  /**
   * Called whenever nodes of the task begin to work: an observer of the thread then knows the
   * current task.
   */
  readonly enter?: (() => void) | undefined;
};

/** The last write of each thread, opened once for all its tasks. */
const opened = new WeakMap<SeriesTable, RowSource>();

function open(batch: PointBatch, table: SeriesTable): RowSource {
  let source = opened.get(table);
  if (source?.batch !== batch) opened.set(table, (source = new RowSource(batch, table)));
  return source;
}

/** Timers that fire before a task that is moved in time lets others have their turn. */
const TIMERS_PER_TURN = 1000;

/** A child of the source that reads rows of writes. */
type SourceChild = {
  readonly rows: RowReceiver;
  readonly edge: Edge;
  readonly handle: NodeHandle;
};

/**
 * The receiver of a parent's messages; a parent that a node has several times has several edges to
 * it, in their order.
 */
type ReceiverOf = (edge: { readonly parentId: number; readonly position: number }) => Receiver;

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
  readonly #froms: readonly SourceChild[];
  readonly #waiting: readonly Waiting[];
  readonly #sampler: Sampler;
  readonly #limits: TaskLimits;
  readonly #enter: (() => void) | undefined;
  readonly #timers: Timers;
  readonly #rerun: Rerun | undefined;
  readonly #position: PositionKeeper | undefined;
  readonly #errorListeners: ((error: string) => void)[] = [];
  #source: RowSource | undefined;
  #writeSequence = 0;
  #heldCount = 0;
  #heldBytes = 0;
  #rowsUntilSample = 0;
  #error: string | undefined;
  #newest: bigint | undefined;
  #isClosed = false;
  #released: Promise<void> | undefined;
  #sweep = 0;
  #cancelSweep: CancelTimer | undefined;

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
    this.#sampler = new Sampler(options.clock);
    this.#context = this.#makeContext(pipeline, services, { options, thread });
    this.#handles = this.#build(pipeline);
    this.#froms = this.#handles[0] === undefined ? [] : this.#sourceChildren(this.#handles[0]);
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
    if (this.#limits.groupIdleMs > 0) this.#scheduleSweep();
  }

  get reached(): TaskReach {
    return { newest: this.#newest, waitingRows: 0 };
  }

  push(batch: PointBatch): void {
    this.#newest = batch.times[batch.rowCount - 1];
    const source = open(batch, this.#context.series);
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
    if (start < end) this.#run(selection.source, () => this.#feed(selection, start, end));
  }

  pushDue(batch: PointBatch, due: Due): void {
    this.#newest = batch.times[batch.rowCount - 1];
    const source = open(batch, this.#context.series);
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
    const edges: EdgeStats[] = this.#handles.flatMap((handle) =>
      handle.outputs.map((edge) => ({
        parent: edge.parentName,
        child: edge.childName,
        type: handle.spec.provides === 'batch' ? 'batch' : 'stream',
        collected: edge.count,
        emitted: edge.count,
      })),
    );
    const source = this.#handles[0];
    return {
      nodes: new Map(
        this.#handles.map((handle, i) => [
          handle.name,
          // The source has no input edge: it collected what entered the task.
          i === 0 && source !== undefined
            ? { ...handle.stats(), collected: this.#entered() }
            : handle.stats(),
        ]),
      ),
      edges,
      collected: this.collectedCount,
      heldPointCount: this.#heldCount,
      heldBytes: this.#heldBytes,
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
    const stop = handle.tapEdge.observe(tapObserver(nodeName, listener, options));
    if (options.isExplaining !== true) return stop;
    const stopExplaining = handle.addExplainer(({ group, time, outcome, conditions }) => {
      if (!isWatched(group, options)) return;
      listener({ kind: 'why', edge: nodeName, group: group.id, time, outcome, conditions });
    });
    return () => {
      stop();
      stopExplaining();
    };
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

  /** A group is released at the end of the second sweep that has not seen it. */
  #scheduleSweep(): void {
    const { timers } = this.#context;
    const halfNanos = BigInt(Math.ceil(this.#limits.groupIdleMs / 2)) * 1_000_000n;
    this.#cancelSweep = timers.at(timers.now() + halfNanos, () => {
      this.#run(undefined, () => {
        this.#sweep++;
        for (const group of this.#context.groups.list()) {
          if (group.sweep < this.#sweep - 2 && !group.isWhole) this.#forget(group);
        }
      });
      if (!this.#isClosed && this.#error === undefined) this.#scheduleSweep();
    });
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
    const sweep = (): number => this.#sweep;
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
      hold: (point) => this.#hold(point),
      release: (point) => {
        point.holdCount--;
        this.#heldCount--;
        this.#heldBytes -= heldBytesOf(point);
      },
      get writeRowCount(): number {
        return rowCount();
      },
      guard: (callback) => this.#run(undefined, callback),
      outputEdge: (nodeId) => this.#handles[nodeId]?.tapEdge,
    };
  }

  /**
   * Children come after their parents in creation order, so nodes are made from the last to the
   * first.
   */
  #build(pipeline: Pipeline): NodeHandle[] {
    const handles: NodeHandle[] = [];
    const receivers = new Map<number, ReceiverOf>();
    let failure: unknown;
    for (const spec of pipeline.nodes.toReversed()) {
      const handle = this.#makeHandle(pipeline, spec, { handles, receivers });
      handles[spec.id] = handle;
      try {
        const node = createNode(handle);
        handle.node = node;
        receivers.set(spec.id, ({ parentId, position }) => {
          const places = [...spec.parents.keys()].filter((i) => spec.parents[i] === parentId);
          return node.capabilities.inputs?.input(places[position] ?? 0) ?? node;
        });
      } catch (cause) {
        if (!(cause instanceof StartError)) throw cause;
        // The first node's mistake is reported.
        failure = startErrorOf(spec.name, cause);
        receivers.set(spec.id, () => NO_OUTPUT);
      }
    }
    if (failure !== undefined) throw failure;
    return handles;
  }

  #makeHandle(
    pipeline: Pipeline,
    spec: NodeSpec,
    made: {
      readonly handles: readonly NodeHandle[];
      readonly receivers: ReadonlyMap<number, ReceiverOf>;
    },
  ): NodeHandle {
    const edges = spec.children.map((id, i) => {
      const child = made.handles[id];
      const position = spec.children.slice(0, i).filter((other) => other === id).length;
      const receiver = made.receivers.get(id)?.({ parentId: spec.id, position });
      assert(
        child !== undefined && receiver !== undefined,
        'children are created after their parents',
      );
      const names = { parent: spec.name, child: child.name };
      const edge = new Edge(names, receiver, { sampler: this.#sampler, time: child.time });
      child.inputs.push(edge);
      return edge;
    });
    const [only] = edges;
    const leaf = (): Edge =>
      new Edge({ parent: spec.name, child: '' }, NO_OUTPUT, {
        sampler: this.#sampler,
        time: new ExecutionTime(),
      });
    const tapEdge = only ?? leaf();
    return new NodeHandle(spec, this.#context, {
      out: edges.length > 1 ? new FanOut(edges) : tapEdge,
      edges,
      tapEdge,
      parentNames: spec.parents.map((id) => pipeline.nodes[id]?.name ?? ''),
    });
  }

  #sourceChildren(source: NodeHandle): SourceChild[] {
    return source.spec.children.flatMap((id, i) => {
      const handle = this.#handles[id];
      const rows = handle?.node?.capabilities.rows;
      const edge = source.outputs[i];
      if (handle === undefined || edge === undefined || rows === undefined) return [];
      return [{ rows, edge, handle }];
    });
  }

  /**
   * Rows pass all `from` nodes before the next row: the division of input into writes must not
   * change the output.
   */
  #feed(selection: RowSelection, start: number, end: number): void {
    const { source } = selection;
    const open = this.#froms.filter(({ rows }) => rows.openWrite(source));
    this.#showToObservers(selection, start, end);
    let at = start;
    if (this.#rowsUntilSample <= 0) {
      this.#rowsUntilSample = SAMPLE_EVERY_ROWS;
      at = Math.min(start + SAMPLE_ROWS, end);
      this.#feedSampled(open, selection, { start, end: at });
    }
    this.#rowsUntilSample -= end - start;
    const [first] = open;
    if (open.length === 1 && first !== undefined) first.rows.rows(selection, at, end);
    else {
      for (; at < end; at++) {
        const row = rowNumber(selection, at);
        for (const { rows } of open) rows.row(row);
      }
    }
    for (const { rows } of open) rows.closeWrite();
    // The source takes no others.
    const count = countOfPart(selection, { start, end }, this.#context.part);
    for (const { edge } of this.#froms) edge.count += count;
  }

  #feedSampled(
    open: readonly SourceChild[],
    selection: RowSelection,
    { start, end }: { readonly start: number; readonly end: number },
  ): void {
    this.#sampler.isOn = true;
    for (let at = start; at < end; at++) {
      const row = rowNumber(selection, at);
      for (const { rows, handle } of open) this.#sampler.time(handle.time, () => rows.row(row));
    }
    this.#sampler.isOn = false;
  }

  /** Taps on the source see points; without taps rows never become points there. */
  #showToObservers(selection: RowSelection, start: number, end: number): void {
    const observers = this.#froms.flatMap(({ edge }) => edge.observers());
    if (observers.length === 0) return;
    const { source } = selection;
    for (let at = start; at < end; at++) {
      const row = rowNumber(selection, at);
      const series = source.series[source.seriesOfRow[row] ?? 0];
      const group = this.#context.groups.named('', NO_DIMENSIONS, []) as Group;
      if (series === undefined || this.#context.part?.has(series) === false) continue;
      const point = rowPoint(source, row, { series, group });
      for (const observer of observers) observer.point(point);
    }
  }

  #resultReceiver(nodeName: string): ResultReceiver {
    const node = this.#handles.find(({ name }) => name === nodeName)?.node;
    const results = node?.capabilities.results;
    assert(results !== undefined, 'results are pushed to nodes that take them');
    return results;
  }

  #entered(): number {
    return this.#froms[0]?.edge.count ?? 0;
  }

  #waitingCount(): number {
    let count = 0;
    for (const { waitingCount } of this.#waiting) count += waitingCount;
    return this.#error === undefined ? count : 0;
  }

  #hold(point: Point): boolean {
    if (this.#heldCount >= this.#limits.heldPointCountMax) return false;
    if (this.#heldBytes >= this.#limits.heldBytesMax) return false;
    this.#heldCount++;
    this.#heldBytes += heldBytesOf(point);
    point.holdCount++;
    if (this.#source === undefined) point.detach();
    else this.#source.held.push(point);
    return true;
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
    this.#cancelSweep?.();
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
