// httpOut: keeps the latest row of each group for the HTTP endpoint. Rows are built on request.
import { httpOutNode } from '@tidemark/pipeline';
import type { BatchCode, PointCode } from '../data/codec.ts';
import {
  decodeBatch,
  decodeGroup,
  decodePoint,
  encodeBatch,
  encodeGroup,
  encodePoint,
} from '../data/codec.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import { batchRow, pointRow } from '../data/rows.ts';
import type { GroupStatesCode } from '../group-states.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { StartError } from '../node.ts';
import { LatestMessages } from '../node-parts/latest-messages.ts';
import type { EndpointRows } from '../running-task.ts';

export class HttpOutNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { state: this };
  readonly #ctx: ContextOf<typeof httpOutNode>;
  readonly #latest: LatestMessages;

  constructor(ctx: ContextOf<typeof httpOutNode>) {
    this.#ctx = ctx;
    this.#latest = new LatestMessages(ctx.task.groups);
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
    this.#latest.set(point.group, point, this.#ctx.task);
    this.#ctx.out.point(point);
  }

  batch(batch: Batch): void {
    this.#latest.set(batch.group, batch, this.#ctx.task);
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
    if (this.#latest.isUntouched) return null;
    return this.#latest
      .messages()
      .map((message) => (message instanceof Batch ? batchRow(message) : pointRow(message)));
  }

  snapshot(): unknown {
    const code: GroupStatesCode<LatestCode> = this.#latest
      .entries()
      .map(({ group, order, message }) => [
        encodeGroup(group),
        message instanceof Batch
          ? { order, batch: encodeBatch(message) }
          : { order, point: encodePoint(message) },
      ]);
    return code;
  }

  restore(state: unknown): void {
    const { task } = this.#ctx;
    for (const [groupCode, code] of state as GroupStatesCode<LatestCode>) {
      const { point, batch, order } = code;
      const group = decodeGroup(task, groupCode);
      const message =
        point !== undefined
          ? decodePoint(task, point)
          : batch !== undefined
            ? decodeBatch(task, batch)
            : undefined;
      if (group !== undefined && message !== undefined) this.#latest.restore(group, order, message);
    }
  }
}

type LatestCode = {
  readonly order: number;
  readonly point?: PointCode | undefined;
  readonly batch?: BatchCode | undefined;
};

export const runningHttpOut = implement(httpOutNode, (ctx) => new HttpOutNode(ctx));
