// Nodes that turn one point into at most one point: state per group on streams, fresh state for
// each batch.
import type { Group } from '../data/group.ts';
import type { Barrier, Batch, Point } from '../data/point.ts';
import type { GroupStatesCode, GroupStore } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import type { NodeContext, RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';

export type Mapping<S> = {
  readonly init: () => S;
  /** The store of states; an object for each group by default. */
  readonly states?: GroupStore<S> | undefined;
  /** `undefined` drops the point. */
  readonly next: (state: S, point: Point) => Point | undefined;
  /** State as data and back; without it nothing is stored. */
  readonly encode?: ((state: S) => unknown) | undefined;
  readonly decode?: ((code: unknown) => S) | undefined;
  readonly stats?: (() => Readonly<Record<string, number>>) | undefined;
  /** The batch itself, before its points. */
  readonly batch?: ((batch: Batch) => Batch) | undefined;
  /** State is kept from batch to batch. */
  readonly isKeptAcrossBatches?: boolean | undefined;
  /** Counts live groups; nodes without grouping report none. */
  readonly isGrouped: boolean;
};

export class MapNode<S> implements RunningNode {
  readonly capabilities: NodeCapabilities = { counters: this, state: this };
  readonly #ctx: NodeContext;
  readonly #mapping: Mapping<S>;
  readonly #states: GroupStore<S>;

  constructor(ctx: NodeContext, mapping: Mapping<S>) {
    this.#ctx = ctx;
    this.#mapping = mapping;
    this.#states = mapping.states ?? new GroupStates(mapping.init);
  }

  get groupCount(): number {
    return this.#mapping.isGrouped ? this.#states.count : 0;
  }

  stats(): Readonly<Record<string, number>> {
    return this.#mapping.stats?.() ?? {};
  }

  point(point: Point): void {
    const result = this.#mapping.next(this.#states.get(point.group), point);
    if (result !== undefined) this.#ctx.out.point(result);
  }

  batch(batch: Batch): void {
    const kept = this.#states.get(batch.group);
    const state = this.#mapping.isKeptAcrossBatches === true ? kept : this.#mapping.init();
    const target = this.#mapping.batch?.(batch) ?? batch;
    const points: Point[] = [];
    for (const point of target.points) {
      const result = this.#mapping.next(state, point);
      if (result !== undefined) points.push(result);
    }
    this.#ctx.out.batch(target.withPoints(points));
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#states.delete(group);
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    const { encode } = this.#mapping;
    return encode === undefined ? undefined : this.#states.encode(encode);
  }

  restore(state: unknown): void {
    const { decode } = this.#mapping;
    if (decode !== undefined)
      this.#states.decode(this.#ctx.task, state as GroupStatesCode<unknown>, decode);
  }
}
