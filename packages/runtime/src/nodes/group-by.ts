// groupBy: changes the grouping. Points of a stream are regrouped at once, batches when the time of
// batches advances.
import { groupByNode } from '@tidemark/pipeline';
import type { BatchCode } from '../data/codec.ts';
import { decodeBatch, encodeBatch } from '../data/codec.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { DimensionChooser, GroupCache } from '../node-parts/dimensions.ts';

type Pending = { readonly group: Group; readonly name: string; readonly points: Point[] };

export class GroupByNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { state: this };
  readonly #ctx: ContextOf<typeof groupByNode>;
  readonly #chooser: DimensionChooser;
  readonly #caches: Readonly<Record<'plain' | 'byName', GroupCache<Group>>>;
  #time: bigint | undefined;
  /** Its groups are held until they are passed on. */
  #pending = new Map<Group, Pending>();

  constructor(ctx: ContextOf<typeof groupByNode>) {
    this.#ctx = ctx;
    this.#chooser = new DimensionChooser(ctx.options.dimensions, ctx.options.exclude);
    this.#caches = { plain: new GroupCache(), byName: new GroupCache() };
  }

  get groupCount(): number {
    return 0;
  }

  point(point: Point): void {
    const isByName = this.#ctx.options.isByMeasurement || point.group.dimensions.isByName;
    const group = this.#group(point, isByName);
    if (group !== undefined) this.#ctx.out.point(point.withSeries(point.series, group));
  }

  batch(batch: Batch): void {
    if (this.#time !== batch.time) {
      this.#flush();
      this.#time = batch.time;
    }
    const isByName = this.#ctx.options.isByMeasurement || batch.group.dimensions.isByName;
    for (const point of batch.points) {
      const group = this.#group(point, isByName);
      if (group === undefined) continue;
      const regrouped = point.withSeries(point.series, group);
      if (!this.#ctx.hold(regrouped)) {
        this.#ctx.fail('group is full', 'the task holds too many points');
        continue;
      }
      let pending = this.#pending.get(group);
      pending ??= this.#begin({ group, name: batch.name, points: [] });
      pending.points.push(regrouped);
    }
  }

  barrier(barrier: Barrier): void {
    if (this.#ctx.wants === 'batch' && this.#time !== barrier.time) {
      this.#flush();
      this.#time = barrier.time;
    }
    this.#ctx.out.barrier(barrier);
  }

  /** Groups below differ: which of them became empty is unknown here. */
  deleteGroup(group: Group): void {
    this.#caches.plain.noteGone();
    this.#caches.byName.noteGone();
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    const batches: BatchCode[] = [];
    for (const { group, name, points } of this.#pending.values()) {
      batches.push(encodeBatch(new Batch(group.series(name), group, this.#time ?? 0n, points)));
    }
    return { time: this.#time, batches };
  }

  restore(state: unknown): void {
    const { time, batches } = state as { time: bigint | undefined; batches: BatchCode[] };
    this.#time = time;
    for (const code of batches) {
      const batch = decodeBatch(this.#ctx.task, code);
      if (batch === undefined) continue;
      const { group, name } = batch;
      const points = batch.points.filter((point) => this.#ctx.hold(point));
      this.#begin({ group, name, points });
    }
  }

  #begin(pending: Pending): Pending {
    this.#pending.set(pending.group, pending);
    pending.group.holderCount++;
    return pending;
  }

  #flush(): void {
    const time = this.#time;
    const pending = this.#pending;
    if (time === undefined || pending.size === 0) return;
    this.#pending = new Map();
    for (const { group, name, points } of pending.values()) {
      group.holderCount--;
      for (const point of points) this.#ctx.release(point);
      points.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
      this.#ctx.out.batch(new Batch(group.series(name), group, time, points));
    }
  }

  #group(point: Point, isByName: boolean): Group | undefined {
    const cache = isByName ? this.#caches.byName : this.#caches.plain;
    const { firstId } = this.#ctx.task.series;
    let group = cache.get(firstId, point.series.id);
    if (group === undefined) {
      group = this.#ctx.groupOf(point.series, this.#chooser.of(point.series, isByName));
      if (group === undefined) return undefined;
      cache.set(firstId, point.series.id, group);
    }
    group.sweep = this.#ctx.task.sweep;
    return group;
  }
}

export const runningGroupBy = implement(groupByNode, (ctx) => new GroupByNode(ctx));
