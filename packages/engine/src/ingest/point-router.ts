// Routes writes to tasks: every task gets the points of its databases and retention policies, in
// the order of acknowledgement. A slow task delays only itself, until too many points wait for it.
import { Unavailable, untilAborted } from '@tidemark/core';
import { measurementsOf, policyText } from '@tidemark/runtime';
import type { BatchTaker, PointBatch, RunningTask } from '@tidemark/runtime';
import { TASK_QUEUE } from '../limits.ts';
import type { Dbrp } from '../store/records.ts';

/** A consumer of points: a running task, a recording. */
export type PointConsumer = Pick<RunningTask, 'push' | 'ready' | 'error' | 'processed'> & {
  /** The thread of the consumer, if it is another one. */
  readonly taker?: BatchTaker | undefined;
  /** Measurements whose points it reads; absent or empty: all. */
  readonly measurements?: ReadonlySet<string> | undefined;
  /** It gets no points at present, because it is reading those that it has missed. */
  readonly isReading?: boolean | undefined;
  /**
   * Too many points wait for the consumer and are dropped: it reads them itself later. Without
   * this, writes wait.
   */
  fallBehind?(): void;
};

export type Route = {
  /** Gives the consumer all earlier points and removes it from the router. */
  close(): Promise<void>;
  /** Resolves when nothing waits for the consumer. */
  drained(): Promise<void>;
  /** Whether nothing waits for the consumer: it was given everything that was dispatched. */
  isIdle(): boolean;
  /** Drops the points that wait for the consumer. */
  drop(): void;
  /**
   * As `drop`, for good: writes to it are refused with `Unavailable` from now on, and so are those
   * that wait for it. Returns the number of points.
   */
  giveUp(): number;
};

/** Points received by database, retention policy and measurement. */
export type IngressCount = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly measurement: string;
  points: number;
};

export class PointRouter {
  readonly #routes = new Map<string, Set<Queue>>();
  readonly #ingress = new Map<string, IngressCount>();
  readonly #waitingRowsMax: number;

  /**
   * @param waitingRowsMax `task.max-waiting-points`: rows that wait for one consumer before writes
   * wait, too.
   */
  constructor(waitingRowsMax = TASK_QUEUE.value) {
    this.#waitingRowsMax = waitingRowsMax;
  }

  /** Adds a consumer; a pair with an empty policy matches writes without one only. */
  add(dbrps: readonly Dbrp[], consumer: PointConsumer): Route {
    const queue = new Queue(consumer, this.#waitingRowsMax);
    const keys = new Set(dbrps.map(({ db, rp }) => policyText(db, rp)));
    for (const key of keys) {
      const queues = this.#routes.get(key) ?? new Set();
      queues.add(queue);
      this.#routes.set(key, queues);
    }
    return {
      close: async () => {
        for (const key of keys) {
          const queues = this.#routes.get(key);
          queues?.delete(queue);
          if (queues?.size === 0) this.#routes.delete(key);
        }
        await queue.drained();
      },
      drained: () => queue.drained(),
      isIdle: () => queue.isIdle,
      drop: () => queue.drop(),
      giveUp: () => queue.giveUp(),
    };
  }

  /**
   * Passes a batch to all consumers of its pair. Resolves when the points have been accepted and
   * the alerts that they raise at once are published; a task that is behind is not awaited.
   */
  async dispatch(batch: PointBatch): Promise<void> {
    const names = measurementsOf(batch);
    this.#count(batch, names);
    const route = this.#routes.get(policyText(batch.database, batch.retentionPolicy));
    if (route === undefined) return;
    const queues = readersOf(route, batch, names);
    const write = new Write(batch, queues);
    let waits: Promise<void>[] | undefined;
    for (const queue of queues) {
      const wait = queue.accept(write);
      if (wait !== undefined) (waits ??= []).push(wait);
    }
    write.given();
    for (const queue of queues) {
      const wait = queue.processed();
      if (wait !== undefined) (waits ??= []).push(wait);
    }
    if (waits !== undefined) await Promise.all(waits);
  }

  /** Whether there are consumers of the pair. */
  isWanted(database: string, retentionPolicy: string): boolean {
    return this.#routes.has(policyText(database, retentionPolicy));
  }

  ingress(): Iterable<IngressCount> {
    return this.#ingress.values();
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    const queues = new Set([...this.#routes.values()].flatMap((set) => [...set]));
    await Promise.all([...queues].map((queue) => queue.drained()));
  }

  #count(batch: PointBatch, names: string | readonly string[]): void {
    const { database, retentionPolicy, seriesOfRow } = batch;
    if (typeof names === 'string') {
      this.#ingressOf(database, retentionPolicy, names).points += seriesOfRow.length;
      return;
    }
    // Series of one measurement mostly follow each other.
    let last: IngressCount | undefined;
    const counts = names.map((name) => {
      if (name === last?.measurement) return last;
      return (last = this.#ingressOf(database, retentionPolicy, name));
    });
    for (let row = 0; row < seriesOfRow.length; row++) {
      (counts[seriesOfRow[row] as number] as IngressCount).points++;
    }
  }

  #ingressOf(database: string, retentionPolicy: string, measurement: string): IngressCount {
    const key = `${policyText(database, retentionPolicy)}\u0000${measurement}`;
    let count = this.#ingress.get(key);
    if (count === undefined) {
      count = { database, retentionPolicy, measurement, points: 0 };
      this.#ingress.set(key, count);
    }
    return count;
  }
}

/**
 * The consumers that read points of a batch. Those of a log go to all: its states say how far a
 * task has come in it.
 */
function readersOf(
  queues: ReadonlySet<Queue>,
  { record }: PointBatch,
  names: string | readonly string[],
): Iterable<Queue> {
  if (record !== undefined) return queues;
  const present = new Set(typeof names === 'string' ? [names] : names);
  return [...queues].filter((queue) => queue.reads(present));
}

/**
 * A batch on its way to its consumers. If all of them are in one other thread, and each has
 * received it, it is transferred to that thread instead of being copied.
 */
class Write {
  readonly batch: PointBatch;
  readonly #taker: BatchTaker | undefined;
  /** Number of consumers that wait for it, plus one during the round through all of them. */
  #holderCount = 1;
  /** Those of each thread. */
  #waiting: Map<BatchTaker, number> | undefined;

  constructor(batch: PointBatch, queues: Iterable<Queue>) {
    this.batch = batch;
    this.#taker = commonTaker(queues);
  }

  /** A consumer of this thread waits for it. */
  held(taker: BatchTaker | undefined): void {
    this.#holderCount++;
    if (taker === undefined) return;
    this.#waiting ??= new Map();
    this.#waiting.set(taker, (this.#waiting.get(taker) ?? 0) + 1);
    taker.keep(this.batch);
  }

  /** A consumer does not wait for it any more. */
  given(taker?: BatchTaker): void {
    this.#holderCount--;
    if (taker !== undefined) {
      const left = (this.#waiting?.get(taker) ?? 0) - 1;
      this.#waiting?.set(taker, left);
      if (left === 0) taker.release(this.batch);
    }
    if (this.#holderCount === 0) this.#taker?.takeOver(this.batch);
  }
}

function commonTaker(queues: Iterable<Queue>): BatchTaker | undefined {
  let common: BatchTaker | undefined;
  for (const { taker } of queues) {
    if (taker === undefined || (common !== undefined && common !== taker)) return undefined;
    common = taker;
  }
  return common;
}

const STUCK =
  'the engine stops, and a task has not taken its points in time; write them again later';

/** A write that waits for a consumer, in the thread that this was in then. */
type Waiting = { readonly write: Write; readonly taker: BatchTaker | undefined };

/** Batches that wait for one consumer. */
class Queue {
  readonly #consumer: PointConsumer;
  readonly #waitingRowsMax: number;
  readonly #waiting: Waiting[] = [];
  #waitingRows = 0;
  #pump: Promise<void> | undefined;
  readonly #givenUp = new AbortController();

  constructor(consumer: PointConsumer, waitingRowsMax: number) {
    this.#consumer = consumer;
    this.#waitingRowsMax = waitingRowsMax;
  }

  get taker(): BatchTaker | undefined {
    return this.#consumer.taker;
  }

  /** Whether the consumer reads one of these measurements. */
  reads(present: ReadonlySet<string>): boolean {
    const { measurements } = this.#consumer;
    if (measurements === undefined || measurements.size === 0) return true;
    for (const name of measurements) if (present.has(name)) return true;
    return false;
  }

  get isIdle(): boolean {
    return this.#pump === undefined;
  }

  /** `undefined` when there is room for more, otherwise resolves when there is. */
  accept(write: Write): Promise<void> | undefined {
    const consumer = this.#consumer;
    const { batch } = write;
    if (consumer.error !== undefined || consumer.isReading === true) return undefined;
    if (this.#givenUp.signal.aborted) return this.#room();
    if (this.#pump === undefined && consumer.ready() === undefined) {
      consumer.push(batch);
      return undefined;
    }
    const { taker } = consumer;
    this.#waiting.push({ write, taker });
    write.held(taker);
    this.#waitingRows += batch.rowCount;
    this.#pump ??= this.#run().finally(() => {
      this.#pump = undefined;
    });
    if (this.#waitingRows <= this.#waitingRowsMax) return undefined;
    if (consumer.fallBehind === undefined) return this.#room();
    this.drop();
    consumer.fallBehind();
    return undefined;
  }

  drop(): void {
    for (const { write, taker } of this.#waiting.splice(0)) write.given(taker);
    this.#waitingRows = 0;
  }

  giveUp(): number {
    const rows = this.#waitingRows;
    this.drop();
    this.#givenUp.abort();
    return rows;
  }

  async #room(): Promise<void> {
    await untilAborted(this.#pump, this.#givenUp.signal);
    if (this.#givenUp.signal.aborted) throw new Unavailable(STUCK);
  }

  /**
   * A promise of the consumer's processing of its points; `undefined` when nobody needs to wait for
   * that.
   */
  processed(): Promise<void> | undefined {
    return this.#pump === undefined ? this.#consumer.processed() : undefined;
  }

  async drained(): Promise<void> {
    while (this.#waiting.length > 0) await untilAborted(this.#pump, this.#givenUp.signal);
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#consumer.ready();
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const { write, taker } = next;
      this.#waitingRows -= write.batch.rowCount;
      if (this.#consumer.error === undefined) this.#consumer.push(write.batch);
      write.given(taker);
    }
  }
}
