// httpOut: keeps the latest row of each group for the HTTP endpoint. Rows are made when they are asked for.
import type { HttpOutOptions } from '@tidemark/pipeline';
import type { BatchCode, PointCode } from '../data/codec.ts';
import { decodeBatch, decodePoint, encodeBatch, encodePoint } from '../data/codec.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import { batchRow, pointRow } from '../data/rows.ts';
import type { GroupStatesCode } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import type { NodeContext, RunningNode } from '../node.ts';
import { StartError } from '../node.ts';
import type { EndpointRows } from '../running-task.ts';

/** The latest message of a group. A point is a clone of our own. */
class Latest {
  message: Point | Batch | undefined;
  readonly order: number;
  writeSequence = -1;

  constructor(order: number, message?: Point | Batch) {
    this.order = order;
    this.message = message;
  }

  set(message: Point | Batch): void {
    const { message: last } = this;
    if (message instanceof Batch) this.message = message;
    else if (last === undefined || last instanceof Batch) this.message = message.clone();
    else last.become(message);
  }

  /** Gives the message values of its own, so that it does not keep its write in memory. */
  detach(): void {
    if (this.message instanceof Batch) for (const point of this.message.points) point.detach();
    else this.message?.detach();
  }
}

/** Groups whose latest message came with one write. */
type KeptWrite = {
  readonly sequence: number;
  readonly rowCount: number;
  readonly touched: Latest[];
};

/** Rows of writes that stay in memory for the sake of their latest messages: about 16 MB at ten fields. */
const KEPT_ROWS_MAX = 200_000;
const KEPT_WRITES_MAX = 256;

export class HttpOutNode implements RunningNode {
  readonly #ctx: NodeContext<HttpOutOptions>;
  readonly #latest: GroupStates<Latest>;
  #order = 0;
  readonly #writes: KeptWrite[] = [];
  #keptRows = 0;

  constructor(ctx: NodeContext<HttpOutOptions>) {
    this.#ctx = ctx;
    this.#latest = new GroupStates(() => new Latest(this.#order++));
    const { endpoint } = ctx.options;
    if (ctx.task.httpOutputs.has(endpoint)) {
      throw new StartError(`http_out endpoint ${JSON.stringify(endpoint)} is used twice`);
    }
    ctx.task.httpOutputs.set(endpoint, () => this.rows());
  }

  get groupCount(): number {
    return this.#latest.count;
  }

  point(point: Point): void {
    this.#keep(point);
    this.#ctx.out.point(point);
  }

  batch(batch: Batch): void {
    this.#keep(batch);
    this.#ctx.out.batch(batch);
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#latest.delete(group);
    this.#ctx.out.deleteGroup(group);
  }

  /** In order of group creation. */
  rows(): EndpointRows {
    if (this.#order === 0) return null;
    return Array.from(this.#latest, ([, latest]) => latest)
      .sort((a, b) => a.order - b.order)
      .flatMap(({ message }) => {
        if (message === undefined) return [];
        return [message instanceof Batch ? batchRow(message) : pointRow(message)];
      });
  }

  #keep(message: Point | Batch): void {
    const { task } = this.#ctx;
    const latest = this.#latest.get(message.group);
    latest.set(message);
    if (latest.writeSequence === task.writeSequence) return;
    latest.writeSequence = task.writeSequence;
    this.#remember(latest);
  }

  /**
   * Messages point into the columns of their write. Most are replaced before that matters; the few whose write is
   * the oldest of too many get values of their own.
   */
  #remember(latest: Latest): void {
    const { writeSequence, writeRowCount } = this.#ctx.task;
    let current = this.#writes.at(-1);
    if (current?.sequence !== writeSequence) {
      current = { sequence: writeSequence, rowCount: writeRowCount, touched: [] };
      this.#writes.push(current);
      this.#keptRows += writeRowCount;
    }
    current.touched.push(latest);
    while (this.#keptRows > KEPT_ROWS_MAX || this.#writes.length > KEPT_WRITES_MAX) {
      const oldest = this.#writes.shift();
      if (oldest === undefined) return;
      this.#keptRows -= oldest.rowCount;
      for (const each of oldest.touched) if (each.writeSequence === oldest.sequence) each.detach();
    }
  }

  snapshot(): unknown {
    return this.#latest.encode(({ message, order }) => ({
      order,
      point: message === undefined || message instanceof Batch ? undefined : encodePoint(message),
      batch: message instanceof Batch ? encodeBatch(message) : undefined,
    }));
  }

  restore(state: unknown): void {
    type Code = { order: number; point?: PointCode; batch?: BatchCode };
    const { task } = this.#ctx;
    this.#latest.decode(task, state as GroupStatesCode<Code>, (code) => {
      this.#order = Math.max(this.#order, code.order + 1);
      const { point, batch, order } = code;
      if (point !== undefined) return new Latest(order, decodePoint(task, point));
      return new Latest(order, batch === undefined ? undefined : decodeBatch(task, batch));
    });
  }
}
