// barrier: notifies the nodes below, by the wall clock, that no older data follows for a group.
import { barrierNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import { GroupStates } from '../group-states.ts';
import type { GroupStatesCode } from '../group-states.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import type { CancelTimer } from '../timers.ts';

type GroupBarrier = {
  /** Older messages are dropped. */
  barrierTime: bigint | undefined;
  lastTime: bigint;
  /**
   * Wall time of the last message: the idle timer checks it instead of being set again for every
   * point.
   */
  lastSeen: bigint;
  /** When the timer fires; those of one time fire in the order in which they were set. */
  at: bigint;
  order: number;
  cancel: CancelTimer | undefined;
};

type BarrierCode = Omit<GroupBarrier, 'cancel'>;

export class BarrierNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { closing: this, state: this };
  readonly #ctx: ContextOf<typeof barrierNode>;
  readonly #groups: GroupStates<GroupBarrier>;
  #setCount = 0;

  constructor(ctx: ContextOf<typeof barrierNode>) {
    this.#ctx = ctx;
    this.#groups = new GroupStates((group) => this.#open(group));
  }

  get groupCount(): number {
    return this.#groups.count;
  }

  point(point: Point): void {
    const state = this.#groups.get(point.group);
    state.lastSeen = this.#ctx.task.timers.now();
    if (state.barrierTime !== undefined && point.time < state.barrierTime) return;
    state.lastTime = point.time;
    this.#ctx.out.point(point);
  }

  batch(batch: Batch): void {
    const state = this.#groups.get(batch.group);
    state.lastSeen = this.#ctx.task.timers.now();
    if (state.barrierTime !== undefined && batch.time < state.barrierTime) return;
    state.lastTime = batch.time;
    const { barrierTime } = state;
    const points =
      barrierTime === undefined
        ? batch.points
        : batch.points.filter((point) => point.time >= barrierTime);
    this.#ctx.out.batch(new Batch(batch.series, batch.group, batch.time, points));
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#groups.delete(group)?.cancel?.();
    this.#ctx.out.deleteGroup(group);
  }

  close(): void {
    for (const [, state] of this.#groups) state.cancel?.();
  }

  snapshot(): unknown {
    return this.#groups.encode(({ barrierTime, lastTime, lastSeen, at, order }): BarrierCode => ({
      barrierTime,
      lastTime,
      lastSeen,
      at,
      order,
    }));
  }

  /** Timers continue too: those that were due meanwhile are due now. */
  restore(state: unknown): void {
    const codes = state as GroupStatesCode<BarrierCode>;
    this.#groups.decode(this.#ctx.task, codes, (code) => ({ ...code, cancel: undefined }));
    const restored = [...this.#groups].sort(([, a], [, b]) => a.order - b.order);
    for (const [group, state] of restored) this.#schedule(group, state, state.at);
  }

  #open(group: Group): GroupBarrier {
    const now = this.#ctx.task.timers.now();
    const state: GroupBarrier = {
      barrierTime: undefined,
      lastTime: now,
      lastSeen: now,
      at: now,
      order: 0,
      cancel: undefined,
    };
    this.#schedule(
      group,
      state,
      this.#ctx.options.idleNanos > 0n
        ? now + this.#ctx.options.idleNanos
        : now + this.#ctx.options.periodNanos,
    );
    return state;
  }

  #schedule(group: Group, state: GroupBarrier, at: bigint): void {
    const { task, options } = this.#ctx;
    state.at = at;
    state.order = this.#setCount++;
    state.cancel = task.timers.at(at, () =>
      task.guard(() => {
        if (options.idleNanos > 0n) this.#idleFired(group, state);
        else this.#periodFired(group, state, at);
      }),
    );
  }

  #idleFired(group: Group, state: GroupBarrier): void {
    const { task, options } = this.#ctx;
    const due = state.lastSeen + options.idleNanos;
    const now = task.timers.now();
    if (now < due) {
      this.#schedule(group, state, due);
      return;
    }
    state.lastSeen = now;
    state.lastTime += options.idleNanos;
    this.#emit(group, state, state.lastTime);
    if (!group.isReleased && this.#groups.peek(group) === state) {
      this.#schedule(group, state, now + options.idleNanos);
    }
  }

  #periodFired(group: Group, state: GroupBarrier, at: bigint): void {
    const { task, options } = this.#ctx;
    this.#emit(group, state, task.timers.now());
    if (this.#groups.peek(group) === state) this.#schedule(group, state, at + options.periodNanos);
  }

  #emit(group: Group, state: GroupBarrier, time: bigint): void {
    state.barrierTime = time;
    this.#ctx.out.barrier({ group, time });
    if (!this.#ctx.options.isDeletingGroup) return;
    this.#groups.delete(group);
    state.cancel?.();
    this.#ctx.out.deleteGroup(group);
    this.#ctx.task.groups.release(group);
  }
}

export const runningBarrier = implement(barrierNode, (ctx) => new BarrierNode(ctx));
