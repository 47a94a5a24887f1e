// shift: moves points and batches in time.
import { shiftNode } from '@tidemark/pipeline';
import type { Barrier, Batch, Point } from '../data/point.ts';
import { Batch as BatchMessage } from '../data/point.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { StartError } from '../node.ts';

/** Moves points, batches and their barriers in time. */
class ShiftNode implements RunningNode {
  readonly capabilities: NodeCapabilities = {};
  readonly #ctx: ContextOf<typeof shiftNode>;
  readonly #shift: bigint;

  constructor(ctx: ContextOf<typeof shiftNode>) {
    this.#ctx = ctx;
    this.#shift = ctx.options.shiftNanos;
    if (this.#shift === 0n) throw new StartError('invalid shift value: must be non zero duration');
  }

  get groupCount(): number {
    return 0;
  }

  point(point: Point): void {
    this.#ctx.out.point(point.withTime(point.time + this.#shift));
  }

  batch(batch: Batch): void {
    const points = batch.points.map((point) => point.withTime(point.time + this.#shift));
    this.#ctx.out.batch(
      new BatchMessage(batch.series, batch.group, batch.time + this.#shift, points),
    );
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier({ group: barrier.group, time: barrier.time + this.#shift });
  }

  deleteGroup(group: Point['group']): void {
    this.#ctx.out.deleteGroup(group);
  }
}

export const runningShift = implement(shiftNode, (ctx) => new ShiftNode(ctx));
