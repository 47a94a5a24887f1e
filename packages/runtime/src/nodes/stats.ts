// stats: emits, at an interval of the wall clock, how many points another node has emitted per
// group.
import { statsNode } from '@tidemark/pipeline';
import { decodeGroup, encodeGroup } from '../data/codec.ts';
import type { GroupCode } from '../data/codec.ts';
import { NO_DIMENSIONS } from '../data/group.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch } from '../data/point.ts';
import { Point } from '../data/point.ts';
import { ownSchema } from '../data/schema.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { StartError } from '../node.ts';
import { roundTime, truncateTime } from '../time-math.ts';
import type { CancelTimer } from '../timers.ts';

const SCHEMA = ownSchema([{ name: 'emitted', type: 'int' }]);

type StatsCode = {
  readonly next: bigint;
  readonly counts: readonly (readonly [GroupCode, number])[];
};

export class StatsNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { starting: this, closing: this, state: this };
  readonly #ctx: ContextOf<typeof statsNode>;
  /** Its groups are held: a group that is silent, or that a barrier deletes, is still reported. */
  readonly #counts = new Map<Group, number>();
  #next: bigint | undefined;
  #cancel: CancelTimer | undefined;
  #stopCounting: (() => void) | undefined;

  constructor(ctx: ContextOf<typeof statsNode>) {
    this.#ctx = ctx;
    if (ctx.options.intervalNanos <= 0n) {
      throw new StartError('stats node must have positive interval');
    }
  }

  get groupCount(): number {
    return 0;
  }

  start(): Promise<void> {
    const { task, options } = this.#ctx;
    const count = (group: Group, points: number): void => {
      const before = this.#counts.get(group);
      if (before === undefined) this.#begin(group, points);
      else this.#counts.set(group, before + points);
    };
    this.#stopCounting = task.outputEdge(options.sourceNodeId)?.observe({
      point: (point) => count(point.group, 1),
      batch: (batch) => count(batch.group, batch.count),
      barrier: () => undefined,
      deleteGroup: () => undefined,
    });
    const now = task.timers.now();
    const first = now + options.intervalNanos;
    const restored = this.#next !== undefined && this.#next > now ? this.#next : undefined;
    this.#schedule(
      restored ?? (options.isAligned ? truncateTime(first, options.intervalNanos) : first),
    );
    return Promise.resolve();
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

  /** Only called by the task itself: the group has been idle for too long. */
  deleteGroup(group: Group): void {
    if (this.#counts.delete(group)) group.holderCount--;
    this.#ctx.out.deleteGroup(group);
  }

  close(): void {
    this.#cancel?.();
    this.#stopCounting?.();
  }

  snapshot(): StatsCode | undefined {
    if (this.#next === undefined) return undefined;
    const counts = [...this.#counts].map(([group, count]) => [encodeGroup(group), count] as const);
    return { next: this.#next, counts };
  }

  /** Counts continue, and so do the ticks if the next one is still ahead. */
  restore(state: unknown): void {
    const { next, counts } = state as StatsCode;
    this.#next = next;
    for (const [code, count] of counts) {
      const group = decodeGroup(this.#ctx.task, code);
      if (group !== undefined) this.#begin(group, count);
    }
  }

  #begin(group: Group, count: number): void {
    this.#counts.set(group, count);
    group.holderCount++;
  }

  #schedule(at: bigint): void {
    const { task, options } = this.#ctx;
    this.#next = at;
    this.#cancel = task.timers.at(at, () =>
      task.guard(() => {
        const now = task.timers.now();
        this.#emit(options.isAligned ? roundTime(now, options.intervalNanos) : now);
        // After a pause of the process missed ticks are skipped.
        const next = at + options.intervalNanos;
        this.#schedule(next > now ? next : now + options.intervalNanos);
      }),
    );
  }

  #emit(time: bigint): void {
    const { task, out } = this.#ctx;
    if (this.#counts.size === 0) {
      const group = task.groups.named('', NO_DIMENSIONS, []);
      if (group !== undefined) out.point(this.#point(group, time, 0));
      return;
    }
    for (const [group, count] of this.#counts) out.point(this.#point(group, time, count));
  }

  #point(group: Group, time: bigint, count: number): Point {
    const series = group.series('stats');
    return Point.of({ time, series, group, schema: SCHEMA, own: [BigInt(count)] });
  }
}

export const runningStats = implement(statsNode, (ctx) => new StatsNode(ctx));
