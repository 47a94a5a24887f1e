// trickle: turns batches into single points of the batch's group.
import type { Group } from '../data/group.ts';
import type { Barrier, Batch, Point } from '../data/point.ts';
import type { NodeContext, RunningNode } from '../node.ts';

export class TrickleNode implements RunningNode {
  readonly #ctx: NodeContext;

  constructor(ctx: NodeContext) {
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
