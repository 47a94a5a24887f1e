// window: collects the points of a group by time or by count and emits them as batches.
import { windowNode } from '@tidemark/pipeline';
import type { PointsCode } from '../data/codec.ts';
import { decodePoints, encodePoints } from '../data/codec.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import { PointColumns } from '../data/point-columns.ts';
import { LayoutCache } from '../data/point-layout.ts';
import type { GroupStatesCode } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import { StartError } from '../node.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { truncateTime } from '../time-math.ts';

/** Points of a group in order of arrival. */
type TimeWindow = {
  readonly points: PointColumns;
  nextEmit: bigint;
  /** Measurement of the group's first point. */
  name: string;
};

export class TimeWindowNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { state: this };
  readonly #ctx: ContextOf<typeof windowNode>;
  readonly #windows: GroupStates<TimeWindow>;
  readonly #layouts: LayoutCache;

  constructor(ctx: ContextOf<typeof windowNode>) {
    this.#ctx = ctx;
    this.#layouts = new LayoutCache(() => ctx.fieldsWanted);
    this.#windows = new GroupStates(() => ({
      points: new PointColumns(ctx, this.#layouts),
      nextEmit: 0n,
      name: '',
    }));
  }

  get groupCount(): number {
    return this.#windows.count;
  }

  point(point: Point): void {
    const window = this.#windows.peek(point.group) ?? this.#open(point);
    const { everyNanos } = this.#ctx.options;
    if (everyNanos === 0n) {
      this.#insert(window, point);
      if (point.time < window.nextEmit) return;
      window.points.dropBefore(point.time - this.#ctx.options.periodNanos + 1n);
      this.#emit(window, point.group, point.time);
      window.nextEmit = point.time;
      return;
    }
    if (point.time >= window.nextEmit) this.#turn(window, point.group, point.time);
    this.#insert(window, point);
  }

  batch(): void {
    this.#ctx.abort('window does not support batch data');
  }

  /** A barrier acts like a point of its time, and is replaced by the batch. */
  barrier(barrier: Barrier): void {
    const window = this.#windows.peek(barrier.group);
    if (window === undefined || barrier.time < window.nextEmit) return;
    const { everyNanos, periodNanos } = this.#ctx.options;
    if (everyNanos > 0n) {
      this.#turn(window, barrier.group, barrier.time);
      return;
    }
    window.points.dropBefore(barrier.time - periodNanos + 1n);
    this.#emit(window, barrier.group, barrier.time);
    window.nextEmit = barrier.time;
  }

  deleteGroup(group: Group): void {
    this.#windows.delete(group)?.points.clear();
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    return this.#windows.encode(({ points, nextEmit, name }, group) => ({
      points: encodePoints(points.rows(group).points()),
      nextEmit,
      name,
    }));
  }

  restore(state: unknown): void {
    const { task } = this.#ctx;
    type Code = { points: PointsCode; nextEmit: bigint; name: string };
    this.#windows.decode(task, state as GroupStatesCode<Code>, (code) => {
      const points = new PointColumns(this.#ctx, this.#layouts);
      for (const point of decodePoints(task, code.points)) points.append(point);
      return { points, nextEmit: code.nextEmit, name: code.name };
    });
  }

  #open(point: Point): TimeWindow {
    const window = this.#windows.get(point.group);
    window.nextEmit = this.#firstEmit(point.time);
    window.name = point.series.name;
    return window;
  }

  #firstEmit(time: bigint): bigint {
    const { periodNanos, everyNanos, isAligned, isFillingPeriod } = this.#ctx.options;
    if (!isFillingPeriod) {
      return isAligned ? truncateTime(time + everyNanos, everyNanos) : time + everyNanos;
    }
    const filled = time + periodNanos;
    if (!isAligned) return filled;
    const aligned = truncateTime(filled, everyNanos);
    return aligned <= filled ? aligned + everyNanos : aligned;
  }

  /** Emits points before `nextEmit`; one batch even after a long gap. */
  #turn(window: TimeWindow, group: Group, time: bigint): void {
    const { periodNanos, everyNanos, isAligned } = this.#ctx.options;
    const { points } = window;
    // Points that came too late.
    points.dropBefore(window.nextEmit - periodNanos);
    this.#emit(window, group, window.nextEmit);
    window.nextEmit = isAligned ? truncateTime(time + everyNanos, everyNanos) : time + everyNanos;
    // Those that no later batch has are not kept until the next one.
    points.dropBefore(window.nextEmit - periodNanos);
  }

  #insert({ points }: TimeWindow, point: Point): void {
    if (!points.append(point)) {
      this.#ctx.fail('window is full', 'the task holds too many points');
    }
  }

  #emit({ points, name }: TimeWindow, group: Group, time: bigint): void {
    this.#ctx.out.batch(new Batch(group.series(name), group, time, points.rows(group)));
  }
}

/** The last points of a group; `total` counts all points so far. */
type CountWindow = {
  readonly points: PointColumns;
  total: number;
  nextEmit: number;
  name: string;
};

export class CountWindowNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { state: this };
  readonly #ctx: ContextOf<typeof windowNode>;
  readonly #windows: GroupStates<CountWindow>;
  readonly #layouts: LayoutCache;
  readonly #period: number;
  readonly #every: number;

  constructor(ctx: ContextOf<typeof windowNode>) {
    this.#ctx = ctx;
    this.#layouts = new LayoutCache(() => ctx.fieldsWanted);
    this.#period = Number(ctx.options.periodCount);
    this.#every = Number(ctx.options.everyCount);
    const nextEmit = ctx.options.isFillingPeriod ? this.#period : this.#every;
    this.#windows = new GroupStates(() => ({
      points: new PointColumns(ctx, this.#layouts),
      total: 0,
      nextEmit,
      name: '',
    }));
  }

  get groupCount(): number {
    return this.#windows.count;
  }

  point(point: Point): void {
    const window = this.#windows.get(point.group);
    if (window.total === 0) window.name = point.series.name;
    window.total++;
    const { points } = window;
    if (points.count >= this.#period) points.dropFirst(1);
    if (!points.append(point)) {
      this.#ctx.fail('window is full', 'the task holds too many points');
    }
    if (window.total < window.nextEmit) return;
    window.nextEmit += this.#every;
    const series = point.group.series(window.name);
    this.#ctx.out.batch(new Batch(series, point.group, point.time, points.rows(point.group)));
  }

  batch(): void {
    this.#ctx.abort('window does not support batch data');
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#windows.delete(group)?.points.clear();
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    return this.#windows.encode(({ points, total, nextEmit, name }, group) => ({
      points: encodePoints(points.rows(group).points()),
      total,
      nextEmit,
      name,
    }));
  }

  restore(state: unknown): void {
    const { task } = this.#ctx;
    type Code = { points: PointsCode; total: number; nextEmit: number; name: string };
    this.#windows.decode(task, state as GroupStatesCode<Code>, (code) => {
      const points = new PointColumns(this.#ctx, this.#layouts);
      for (const point of decodePoints(task, code.points)) points.append(point);
      return { ...code, points };
    });
  }
}

/** The node for a window's options. */
function createWindow(ctx: ContextOf<typeof windowNode>): RunningNode {
  const { periodNanos, periodCount } = ctx.options;
  if (periodNanos === 0n && periodCount === 0n) {
    throw new StartError('window node must have either a non zero period or non zero period count');
  }
  return periodNanos === 0n ? new CountWindowNode(ctx) : new TimeWindowNode(ctx);
}

export const runningWindow = implement(windowNode, createWindow);
