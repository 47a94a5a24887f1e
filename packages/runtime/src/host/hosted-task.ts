// A task in a task host, as the engine sees it. It outlives its host: when the thread fails, the
// pool restarts it elsewhere and it reports that.
import { assert, LATE, messageOf, Unavailable, within } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { effectsOf, measurementsOf } from '@tidemark/pipeline';
import type { Pipeline } from '@tidemark/pipeline';
import { unitName } from '../part.ts';
import type { PointBatch } from '../point-batch.ts';
import type {
  Due,
  AlertGroups,
  EndpointRows,
  BatchTaker,
  Rerun,
  RunningTask,
  TapMessage,
  TapOptions,
  TaskOptions,
  TaskReach,
  TaskState,
  TaskStats,
} from '../running-task.ts';
import type { QueryResultSeries } from '../services.ts';
import type { RpcClient } from './rpc-client.ts';
import type { HostedTaskServices } from './hosted-services.ts';
import { ProcessedRows } from './processed-rows.ts';
import type { FinalTaskState } from './protocol.ts';
import { RowsOnTheWay } from './rows-on-the-way.ts';
import { namedTopicsOf, taskStart } from './task-start.ts';

/** A busy host answers between two slices, within a few tens of milliseconds. */
const REFRESH_TIMEOUT_MS = 250;

/** What a task needs from the pool. */
export type HostedTaskOptions = {
  readonly id: number;
  readonly pipeline: Pipeline;
  readonly services: HostedTaskServices;
  readonly options: TaskOptions;
  /** A task that does not end within this time is abandoned. */
  readonly stopTimeoutMs: () => number;
  /** The task has ended, in any way. */
  readonly onEnd: (task: HostedTask) => void;
  /** The host does not release the task: ends the host and restarts its other tasks. */
  readonly giveUpHost: (client: RpcClient, reason: string) => Promise<void>;
  readonly isAnswering: (client: RpcClient) => Promise<boolean>;
  /** Another host for the task if its host has ended before; `undefined` if there is none. */
  readonly elsewhere: () => RpcClient | undefined;
};

type Tap = {
  readonly nodeName: string;
  readonly options: TapOptions;
  readonly listener: (message: TapMessage) => void;
};

let nextTap = 1;

export class HostedTask implements RunningTask {
  readonly id: number;
  readonly taskId: string;
  /** See `unitName`. */
  readonly unit: string;
  readonly measurements: ReadonlySet<string>;
  readonly #setup: HostedTaskOptions;
  readonly #clock: Clock;
  readonly #errorListeners: ((error: string) => void)[] = [];
  readonly #restartListeners: ((reason: string | undefined) => void)[] = [];
  readonly #taps = new Map<number, Tap>();
  readonly #topics = new Set<string>();
  #client: RpcClient;
  #state: Uint8Array | undefined;
  #rerun: Rerun | undefined;
  #restarts = 0;
  #stats: TaskStats = EMPTY_STATS;
  #outputs: FinalTaskState['outputs'];
  #refreshing: Promise<void> | undefined;
  readonly #processed: ProcessedRows;
  readonly #isAlerting: boolean;
  readonly #rows = new RowsOnTheWay();
  #newest: bigint | undefined;
  #error: string | undefined;
  #closing: Promise<void> | undefined;
  #isStarted = false;
  /** The host has reported work since the counters were requested. */
  #isStale = false;
  /** The host's work when the counters were requested. */
  #workOfStats = -1;
  #isEnded = false;
  /** When the host last failed while working for this task. */
  lastBlameMs = Number.NEGATIVE_INFINITY;
  /** Milliseconds of work in the last second, for the distribution over hosts. */
  loadMs = 0;

  constructor(client: RpcClient, setup: HostedTaskOptions) {
    this.id = setup.id;
    this.taskId = setup.options.taskId;
    this.unit = unitName(setup.options.taskId, setup.options.part);
    this.#setup = setup;
    this.measurements = measurementsOf(setup.pipeline);
    this.#clock = setup.options.clock;
    this.#client = client;
    this.#rerun = setup.options.rerun;
    this.#processed = new ProcessedRows(this.#clock);
    this.#isAlerting = setup.pipeline.nodes.some(
      (node) => effectsOf(node).publishesTo !== undefined,
    );
  }

  get services(): HostedTaskServices {
    return this.#setup.services;
  }

  get client(): RpcClient {
    return this.#client;
  }

  get taker(): BatchTaker {
    return this.#client;
  }

  get error(): string | undefined {
    return this.#error;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  get isReplay(): boolean {
    return this.#setup.options.isReplay === true;
  }

  get isEnding(): boolean {
    return this.#closing !== undefined;
  }

  onError(listener: (error: string) => void): void {
    this.#errorListeners.push(listener);
  }

  onRestarted(listener: (reason: string | undefined) => void): void {
    this.#restartListeners.push(listener);
  }

  async start(): Promise<void> {
    try {
      await this.#startSomewhere();
      this.#isStarted = true;
    } catch (cause) {
      this.#end();
      throw cause;
    }
  }

  async #startSomewhere(): Promise<void> {
    const state = this.#state;
    // The pool assigns no other host to a task that has caused two failures.
    for (;;) {
      let failure: Unavailable | undefined;
      try {
        await this.#startOn(this.#client);
        failure = this.#client.loss;
      } catch (cause) {
        if (!(cause instanceof Unavailable)) throw cause;
        failure = cause;
      }
      // The host may have ended after its answer, before the pool counted the task as started. One
      // that has caused that twice begins nowhere.
      const other = this.#setup.elsewhere();
      if (other === undefined) {
        if (failure !== undefined) throw failure;
        return;
      }
      this.#client = other;
      this.#state = state;
    }
  }

  /**
   * Restarts after the host failed, or was left; messages on their way are lost. Without a reason
   * this is not reported.
   */
  async restart(client: RpcClient, reason: string | undefined): Promise<void> {
    const attempt = ++this.#restarts;
    this.#client = client;
    this.#workOfStats = -1;
    const lostRows = this.#rows.lose();
    this.#processed.clear();
    this.#releaseEvents();
    const saved = this.#setup.options.savedState?.();
    if (saved?.state !== undefined) this.restore(saved.state);
    this.#rerun = saved?.rerun;
    // It may be moved, or lose its host, while it starts: its source is only notified of the last
    // start, otherwise it would be given missed data again when it is already live.
    const isOver = (): boolean => attempt !== this.#restarts;
    try {
      await this.#startOn(client);
      if (isOver()) return;
    } catch (cause) {
      // The new host failed as well: the pool tries once more.
      if (cause instanceof Unavailable || isOver()) return;
      const why = reason ?? 'the task was moved';
      this.fail(`${why}; starting again failed: ${messageOf(cause)}`);
      return;
    }
    const lost = lostRows === 0 ? '' : `; ${lostRows} points that waited were lost`;
    const message = reason === undefined ? undefined : `${reason}${lost}`;
    for (const listener of this.#restartListeners) listener(message);
  }

  get reached(): TaskReach {
    return { newest: this.#newest, waitingRows: this.#rows.count };
  }

  push(batch: PointBatch): void {
    if (!this.#send(batch.rowCount)) return;
    this.#newest = batch.times[batch.rowCount - 1];
    this.#client.addRows(batch, this.id);
  }

  pushDue(batch: PointBatch, due: Due): void {
    if (!this.#send(batch.rowCount)) return;
    this.#newest = batch.times[batch.rowCount - 1];
    this.#client.addRows(batch, this.id, due);
  }

  /** Counts rows that are sent; false when the task takes none. */
  #send(rowCount: number): boolean {
    if (this.#error !== undefined || this.#isEnded) return false;
    this.#rows.sent(rowCount);
    this.#processed.sent(rowCount);
    return true;
  }

  advanceTo(time: bigint): void {
    this.#client.send({ kind: 'advance', task: this.id, time });
  }

  goLive(): void {
    this.#client.send({ kind: 'live', task: this.id });
  }

  /** The host has processed rows. */
  taken(rowCount: number): void {
    this.#rows.done(rowCount);
    this.#processed.done(rowCount);
  }

  ready(): Promise<void> | undefined {
    // A task that has ended drops its data.
    return this.#isEnded || this.#error !== undefined ? undefined : this.#rows.ready();
  }

  processed(): Promise<void> | undefined {
    return this.#isAlerting && !this.#isEnded ? this.#processed.wait() : undefined;
  }

  pushQueryResult(
    nodeName: string,
    series: readonly QueryResultSeries[],
    { stop }: { readonly stop: bigint },
  ): void {
    const rowCount = rowCountOf(series);
    if (!this.#send(rowCount)) return;
    this.#newest = stop;
    this.#client.send({ kind: 'result', task: this.id, nodeName, series, stop, rowCount });
  }

  queryFailed(nodeName: string, message: string): void {
    this.#client.send({ kind: 'query-failed', task: this.id, nodeName, message });
  }

  async drain(): Promise<void> {
    await this.#client.request(this.id, { name: 'drain' });
  }

  async settle(): Promise<void> {
    await this.#client.request(this.id, { name: 'settle' });
  }

  close(givenAll?: Promise<void>): Promise<void> {
    this.#closing ??= this.#close(givenAll);
    return this.#closing;
  }

  stats(): TaskStats {
    return this.#stats;
  }

  refresh(options?: { readonly onlyChanged: boolean }): Promise<void> {
    if (options?.onlyChanged === true && !this.#isStale) return Promise.resolve();
    if (this.#isEnded || this.#error !== undefined) return Promise.resolve();
    // Clients repeat requests until nothing changes.
    if (this.#client.work === this.#workOfStats) return Promise.resolve();
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  get collectedCount(): number {
    return this.#stats.collected;
  }

  /** The host has counted points (batches). */
  collected(count: number): void {
    this.#stats = { ...this.#stats, collected: count };
    this.#isStale = true;
  }

  async httpOutput(endpoint: string): Promise<EndpointRows | undefined> {
    if (this.#isEnded || this.#error !== undefined) return this.#outputs?.get(endpoint);
    return this.#client.request(this.id, { name: 'output', endpoint });
  }

  async alertGroups(nodeName: string): Promise<AlertGroups | undefined> {
    if (this.#isEnded || this.#error !== undefined) return undefined;
    return this.#client.request(this.id, { name: 'alert-groups', nodeName });
  }

  takeState(): Promise<Uint8Array> {
    return this.#client.request(this.id, { name: 'state' });
  }

  restore(state: TaskState): void {
    assert(state instanceof Uint8Array, 'state crosses in encoded form');
    this.#state = state;
  }

  tap(
    nodeName: string,
    listener: (message: TapMessage) => void,
    options: TapOptions = {},
  ): () => void {
    const known = this.#setup.pipeline.nodes.some((node) => node.name === nodeName);
    assert(known, 'the tapped node exists');
    const tap = nextTap++;
    this.#taps.set(tap, { nodeName, options, listener });
    this.#client.send({ kind: 'tap', tap, task: this.id, nodeName, options });
    return () => {
      if (this.#taps.delete(tap)) this.#client.send({ kind: 'untap', tap });
    };
  }

  /** Messages of a tap; false when it is not this task's. */
  tapped(tap: number, messages: readonly TapMessage[]): boolean {
    const found = this.#taps.get(tap);
    for (const message of messages) found?.listener(message);
    return found !== undefined;
  }

  topicOpened(topic: string): void {
    this.#topics.add(topic);
  }

  topicClosed(topic: string): void {
    this.#topics.delete(topic);
  }

  /** The task has failed, or cannot be restarted. */
  fail(error: string, remains?: FinalTaskState): void {
    if (this.#error !== undefined || this.#isEnded) return;
    if (remains !== undefined) this.#keep(remains);
    this.#error = error;
    this.#end();
    for (const listener of this.#errorListeners) listener(error);
  }

  #keep({ stats, outputs }: FinalTaskState): void {
    this.#stats = stats;
    this.#outputs = outputs;
  }

  async #startOn(client: RpcClient): Promise<void> {
    const { pipeline, services, options } = this.#setup;
    const start = taskStart(pipeline, services, {
      options,
      state: this.#state,
      rerun: this.#rerun,
    });
    this.#state = undefined;
    const started = client.request(this.id, { name: 'start', start });
    for (const [tap, { nodeName, options: tapOptions }] of this.#taps) {
      client.send({ kind: 'tap', tap, task: this.id, nodeName, options: tapOptions });
    }
    const stats = await started;
    // It may have failed, or have been moved, before its answer was seen.
    if (!this.#isEnded && client === this.#client) this.#stats = stats;
    for (const topic of namedTopicsOf(pipeline)) services.alerts.openTopic(topic);
  }

  async #refresh(): Promise<void> {
    const { work } = this.#client;
    const asked = this.#client.request(this.id, { name: 'stats' }).then(
      (stats) => {
        this.#stats = stats;
        this.#workOfStats = work;
        this.#isStale = false;
      },
      // Ended meanwhile: the last counters stay.
      () => undefined,
    );
    await within(this.#clock, REFRESH_TIMEOUT_MS, asked);
  }

  /** Waits while the task makes progress; otherwise it is abandoned. */
  async #close(givenAll: Promise<void> | undefined): Promise<void> {
    if (givenAll !== undefined && !(await this.#takesAll(givenAll))) {
      await this.#giveUp(this.#client);
      this.#end();
    }
    if (this.#isEnded) return;
    const client = this.#client;
    let isClosed = false;
    const closed = client.request(this.id, { name: 'close' }).then(
      (remains) => {
        this.#keep(remains);
        isClosed = true;
      },
      // The host has ended, and the task with it.
      () => {
        isClosed = true;
      },
    );
    for (let left = Number.POSITIVE_INFINITY; !isClosed && this.#rows.count < left;) {
      left = this.#rows.count === 0 ? Number.NEGATIVE_INFINITY : this.#rows.count;
      await within(this.#clock, this.#setup.stopTimeoutMs(), closed);
    }
    if (!isClosed) await this.#giveUp(client);
    this.#end();
  }

  /** False when it takes none of its waiting rows for too long. */
  async #takesAll(givenAll: Promise<void>): Promise<boolean> {
    for (;;) {
      const before = this.#rows.taken;
      const found = await within(this.#clock, this.#setup.stopTimeoutMs(), givenAll);
      if (found !== LATE) return true;
      if (this.#rows.count > 0 && this.#rows.taken === before && !this.#isEnded) return false;
    }
  }

  async #giveUp(client: RpcClient): Promise<void> {
    const { isAnswering, giveUpHost, services, stopTimeoutMs } = this.#setup;
    services.log.log('error', '', `task did not stop within ${stopTimeoutMs()} ms`, {
      droppedPoints: this.#rows.count,
    });
    if (await isAnswering(client)) client.send({ kind: 'discard', task: this.id });
    else await giveUpHost(client, `task ${this.taskId} did not stop`);
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#processed.clear();
    this.#rows.end();
    // A terminated host has not reported that its anonymous topics are closed.
    for (const topic of this.#topics) this.#setup.services.alerts.closeAnonymousTopic(topic);
    this.#topics.clear();
    // Nor that it no longer inhibits events.
    this.#releaseEvents();
    this.#setup.onEnd(this);
  }

  #releaseEvents(): void {
    const { services, options } = this.#setup;
    // A replay has its own inhibitions.
    if ((options.scope ?? 'main') === 'main') services.alerts.inhibitions.endOf(this.unit);
  }
}

const EMPTY_STATS: TaskStats = {
  nodes: new Map(),
  edges: [],
  collected: 0,
  heldPointCount: 0,
  heldBytes: 0,
  groupCount: 0,
};

/** A result counts as its rows, an empty one as a row: it is a message too. */
function rowCountOf(result: readonly QueryResultSeries[]): number {
  let count = 0;
  for (const { values } of result) count += values.length;
  return Math.max(count, 1);
}
