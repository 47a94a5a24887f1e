// Nodes that pass everything on: the sources, which only name their input, and noOp.
import type { Group } from '../data/group.ts';
import type { Barrier, Batch, Point } from '../data/point.ts';
import type { NodeContext, RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';

export class PassNode implements RunningNode {
  readonly capabilities: NodeCapabilities = {};
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
    this.#ctx.out.batch(batch);
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#ctx.out.deleteGroup(group);
  }
}
