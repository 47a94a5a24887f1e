// union: merges several parents into one stream in order of time.
import { unionNode } from '@tidemark/pipeline';
import type { BatchCode, PointCode } from '../data/codec.ts';
import { decodeBatch, decodePoint, encodeBatch, encodePoint } from '../data/codec.ts';
import type { Group } from '../data/group.ts';
import type { Barrier } from '../data/point.ts';
import { Batch, Point } from '../data/point.ts';
import type { Series } from '../data/series.ts';
import { holdBarrier, holdMessage, releaseBarrier, releaseMessage } from '../held-messages.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { Receiver, RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';

type Message = Point | Batch | Barrier;

type Source = { queue: Message[]; head: number; lastTime: bigint | undefined };

export class UnionNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { inputs: this, state: this };
  readonly #ctx: ContextOf<typeof unionNode>;
  readonly #sources: readonly Source[];
  readonly #order: readonly Source[];

  constructor(ctx: ContextOf<typeof unionNode>) {
    this.#ctx = ctx;
    this.#sources = ctx.parentNames.map(() => ({ queue: [], head: 0, lastTime: undefined }));
    this.#order = [...this.#sources.slice(1), ...this.#sources.slice(0, 1)];
  }

  get groupCount(): number {
    return 0;
  }

  input(parentIndex: number): Receiver {
    const source = this.#sources[parentIndex] as Source;
    return {
      point: (point) => this.#take(source, point),
      batch: (batch) => this.#take(source, batch),
      barrier: (barrier) => this.#take(source, barrier),
      deleteGroup: (group) => this.#ctx.out.deleteGroup(group),
    };
  }

  point(point: Point): void {
    this.input(0).point(point);
  }

  batch(batch: Batch): void {
    this.input(0).batch(batch);
  }

  barrier(barrier: Barrier): void {
    this.input(0).barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#ctx.out.deleteGroup(group);
  }

  finish(): void {
    let isLeft = true;
    while (isLeft) isLeft = this.#emitUpTo(this.#lowestHead());
  }

  snapshot(): unknown {
    return this.#sources.map(({ queue, head, lastTime }) => ({
      lastTime,
      points: queue.slice(head).flatMap((m) => (m instanceof Point ? [encodePoint(m)] : [])),
      batches: queue.slice(head).flatMap((m) => (m instanceof Batch ? [encodeBatch(m)] : [])),
    }));
  }

  restore(state: unknown): void {
    type Code = { lastTime: bigint | undefined; points: PointCode[]; batches: BatchCode[] };
    const { task } = this.#ctx;
    for (const [i, code] of (state as Code[]).entries()) {
      const source = this.#sources[i];
      if (source === undefined) continue;
      source.lastTime = code.lastTime;
      const points = code.points.map((point) => decodePoint(task, point));
      const batches = code.batches.map((batch) => decodeBatch(task, batch));
      for (const message of [...points, ...batches]) {
        if (message !== undefined && this.#hold(message)) source.queue.push(message);
      }
    }
  }

  #take(source: Source, message: Message): void {
    source.lastTime = message.time;
    if (!this.#hold(message)) {
      this.#ctx.fail('too many points', 'the task holds too many points');
      return;
    }
    source.queue.push(message);
    this.#emitReady();
  }

  #hold(message: Message): boolean {
    if (message instanceof Point || message instanceof Batch)
      return holdMessage(this.#ctx, message);
    holdBarrier(message);
    return true;
  }

  #emitReady(): void {
    for (;;) {
      const mark = this.#mark();
      if (mark === undefined || !this.#emitUpTo(mark)) return;
    }
  }

  /** The time that every source has reached; `undefined` until each has sent. */
  #mark(): bigint | undefined {
    let mark: bigint | undefined;
    for (const { queue, head, lastTime } of this.#sources) {
      const time = queue[head]?.time ?? lastTime;
      if (time === undefined) return undefined;
      if (mark === undefined || time < mark) mark = time;
    }
    return mark;
  }

  #lowestHead(): bigint | undefined {
    let lowest: bigint | undefined;
    for (const { queue, head } of this.#sources) {
      const time = queue[head]?.time;
      if (time !== undefined && (lowest === undefined || time < lowest)) lowest = time;
    }
    return lowest;
  }

  /** Emits messages up to `mark`, source by source; the left node comes after the arguments. */
  #emitUpTo(mark: bigint | undefined): boolean {
    if (mark === undefined) return false;
    let hasEmitted = false;
    for (const source of this.#order) {
      for (;;) {
        const message = source.queue[source.head];
        if (message === undefined || message.time > mark) break;
        source.head++;
        if (source.head > 64 && source.head * 2 > source.queue.length) {
          source.queue = source.queue.slice(source.head);
          source.head = 0;
        }
        this.#emit(message);
        hasEmitted = true;
      }
    }
    return hasEmitted;
  }

  #emit(message: Message): void {
    const { out } = this.#ctx;
    if (message instanceof Point) {
      releaseMessage(this.#ctx, message);
      const series = this.#renamed(message.series);
      const group = this.#regrouped(message.group, series);
      if (group !== undefined) out.point(message.withSeries(series, group));
    } else if (message instanceof Batch) {
      releaseMessage(this.#ctx, message);
      const batch = this.#batch(message);
      if (batch !== undefined) out.batch(batch);
    } else {
      releaseBarrier(message);
      out.barrier(message);
    }
  }

  /** The points of a batch have its new name too, which outputs write. */
  #batch(batch: Batch): Batch | undefined {
    if (this.#ctx.options.rename === '') return batch;
    const series = this.#renamed(batch.series);
    const group = this.#regrouped(batch.group, series);
    if (group === undefined) return undefined;
    const points = batch.points.map((point) =>
      point.withSeries(this.#renamed(point.series), group),
    );
    return new Batch(series, group, batch.time, points);
  }

  #renamed(series: Series): Series {
    const { task, options } = this.#ctx;
    return options.rename === '' ? series : task.series.withName(series, options.rename);
  }

  /** Groups by measurement follow the name. */
  #regrouped(group: Group, series: Series): Group | undefined {
    const { dimensions } = group;
    const isMoved = dimensions.isByName && this.#ctx.options.rename !== '';
    return isMoved ? this.#ctx.groupOf(series, dimensions) : group;
  }
}

export const runningUnion = implement(unionNode, (ctx) => new UnionNode(ctx));
