// trickle: turns batches into single points of the batch's group.
import { trickleNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch, Point } from '../data/point.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';

export class TrickleNode implements RunningNode {
  readonly capabilities: NodeCapabilities = {};
  readonly #ctx: ContextOf<typeof trickleNode>;

  constructor(ctx: ContextOf<typeof trickleNode>) {
    this.#ctx = ctx;
  }

  get groupCount(): number {
    return 0;
  }

  point(point: Point): void {
    this.#ctx.out.point(point);
  }

  batch(batch: Batch): void {
    for (const point of batch.points) {
      const series = this.#ctx.task.series.withName(point.series, batch.name);
      this.#ctx.out.point(point.withSeries(series, batch.group));
    }
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#ctx.out.deleteGroup(group);
  }
}

export const runningTrickle = implement(trickleNode, (ctx) => new TrickleNode(ctx));
