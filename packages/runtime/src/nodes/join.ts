// join: merges points (or batches) of several parents by group and time. With `on`, points of
// parents with more dimensions are matched with those of parents that have exactly the `on`
// dimensions.
import { joinNode } from '@tidemark/pipeline';
import type { BatchCode, PointCode } from '../data/codec.ts';
import { decodeBatch, decodePoint, encodeBatch, encodePoint } from '../data/codec.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import type { GroupStatesCode } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import { holdMessage, releaseMessage } from '../held-messages.ts';
import { JoinMerger } from '../join/merger.ts';
import type { JoinPart } from '../join/merger.ts';
import { OnMatcher } from '../join/on-matcher.ts';
import type { JoinMessage } from '../join/on-matcher.ts';
import { JoinSets } from '../join/sets.ts';
import type { Receiver, RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { StartError } from '../node.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import { roundTime } from '../time-math.ts';

export class JoinNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { inputs: this, state: this };
  readonly #ctx: ContextOf<typeof joinNode>;
  readonly #groups: GroupStates<JoinSets<JoinMessage>>;
  readonly #merger: JoinMerger;
  readonly #matcher: OnMatcher | undefined;
  readonly #parentCount: number;

  constructor(ctx: ContextOf<typeof joinNode>) {
    this.#ctx = ctx;
    const { fill, on, toleranceNanos } = ctx.options;
    if (fill?.kind === 'invalid') throw new StartError(`unexpected fill option ${fill.text}`);
    this.#parentCount = ctx.parentNames.length;
    this.#merger = new JoinMerger(ctx);
    this.#groups = new GroupStates(
      (group) =>
        new JoinSets(this.#parentCount, (time, parts) => this.#emitHeld(group, time, parts)),
    );
    this.#matcher =
      on.length === 0
        ? undefined
        : new OnMatcher({
            on,
            parentCount: this.#parentCount,
            round: (time) => roundTime(time, toleranceNanos),
            regroup: (message, to) => this.#regroup(message, to),
            feed: (parent, message) => this.#collect(parent, message),
            hold: (message) => this.#hold(message),
            release: (message) => this.#release(message),
          });
  }

  get groupCount(): number {
    return this.#groups.count;
  }

  input(parentIndex: number): Receiver {
    return {
      point: (point) => this.#take(parentIndex, point),
      batch: (batch) => this.#take(parentIndex, batch),
      barrier: (barrier) => this.#barrier(parentIndex, barrier),
      deleteGroup: (group) => this.#deleteGroup(parentIndex, group),
    };
  }

  point(point: Point): void {
    this.#take(0, point);
  }

  batch(batch: Batch): void {
    this.#take(0, batch);
  }

  barrier(barrier: Barrier): void {
    this.#barrier(0, barrier);
  }

  /** The task has released the group: below all parents. */
  deleteGroup(group: Group): void {
    this.#endAll(group);
    this.#ctx.out.deleteGroup(group);
  }

  /** All parents have ended: waiting sets are emitted as they are. */
  finish(): void {
    this.#matcher?.finish();
    for (const [, sets] of this.#groups) sets.finish();
  }

  snapshot(): unknown {
    const encode = (message: JoinMessage): MessageCode =>
      message instanceof Batch ? { batch: encodeBatch(message) } : { point: encodePoint(message) };
    return {
      groups: this.#groups.encode((sets) => sets.encode(encode)),
      matcher: this.#matcher?.encode(encode),
    };
  }

  restore(state: unknown): void {
    const { task } = this.#ctx;
    const code = state as {
      groups: GroupStatesCode<ReturnType<JoinSets<JoinMessage>['encode']>>;
      matcher: ReturnType<OnMatcher['encode']> | undefined;
    };
    const decode = (message: unknown): JoinMessage | undefined => {
      const { point, batch } = message as MessageCode;
      const decoded =
        batch === undefined ? point && decodePoint(task, point) : decodeBatch(task, batch);
      return decoded !== undefined && this.#hold(decoded) ? decoded : undefined;
    };
    this.#groups.decode(task, code.groups, (sets, group) => {
      const restored = new JoinSets<JoinMessage>(this.#parentCount, (time, parts) =>
        this.#emitHeld(group, time, parts),
      );
      restored.decode(sets, decode);
      return restored;
    });
    if (code.matcher !== undefined) this.#matcher?.decode(code.matcher, decode);
  }

  #take(parent: number, message: JoinMessage): void {
    if (this.#matcher === undefined) this.#collect(parent, message);
    else this.#matcher.take(parent, message);
  }

  #collect(parent: number, message: JoinMessage): void {
    const { group } = message;
    const time = roundTime(message.time, this.#ctx.options.toleranceNanos);
    const sets = this.#groups.get(group);
    const parts = sets.completed(parent, time, message);
    if (parts !== undefined) {
      for (let i = 0; i < parts.length; i++) {
        if (i !== parent) this.#release(parts[i] as JoinMessage);
      }
      this.#emit(group, time, parts);
      return;
    }
    if (this.#hold(message)) sets.add(parent, time, message);
    else this.#ctx.fail('too many points', 'the task holds too many points');
  }

  #barrier(parent: number, barrier: Barrier): void {
    const time = roundTime(barrier.time, this.#ctx.options.toleranceNanos);
    this.#groups.get(barrier.group).advance(parent, time);
    this.#ctx.out.barrier(barrier);
  }

  /** Sets that wait for the deleted group continue without it. */
  #deleteGroup(parent: number, group: Group): void {
    const { out, options } = this.#ctx;
    if (options.isDeletingAll) {
      for (const each of this.#endAll(group)) if (each !== group) out.deleteGroup(each);
    } else {
      for (const each of this.#matcher?.forget(parent, group) ?? [group]) {
        const isLeft = this.#groups.peek(each)?.forget(parent);
        if (isLeft === false) this.#groups.delete(each)?.finish();
      }
    }
    out.deleteGroup(group);
  }

  /** Ends a group below all parents; returns the groups of the join that ended with it. */
  #endAll(group: Group): readonly Group[] {
    const joined = this.#matcher?.forgetAll(group) ?? [group];
    for (const each of joined) this.#groups.delete(each)?.finish();
    return joined;
  }

  #emitHeld(group: Group, time: bigint, parts: readonly JoinPart<JoinMessage>[]): void {
    for (const part of parts) if (part !== undefined) this.#release(part);
    this.#emit(group, time, parts);
  }

  /** The parts belong to the joined message from here on. */
  #emit(from: Group, time: bigint, parts: readonly JoinPart<JoinMessage>[]): void {
    const group = this.#named(from);
    if (group === undefined) return;
    if (this.#ctx.wants === 'batch') {
      const batch = this.#merger.batches(group, time, parts as readonly JoinPart<Batch>[]);
      if (batch !== undefined) this.#ctx.out.batch(batch);
      return;
    }
    const point = this.#merger.points(group, time, parts as readonly JoinPart<Point>[]);
    if (point !== undefined) this.#ctx.out.point(point);
  }

  /** Groups by measurement follow the name in the script. */
  #named(group: Group): Group | undefined {
    const { streamName } = this.#ctx.options;
    const isMoved = group.dimensions.isByName && streamName !== '';
    return isMoved ? this.#ctx.groupOf(group.series(streamName), group.dimensions) : group;
  }

  /** The match message under the tags and group of the specific one. */
  #regroup(message: JoinMessage, to: JoinMessage): JoinMessage {
    if (message instanceof Batch) {
      return new Batch(to.group.series(message.name), to.group, message.time, message.points);
    }
    return message.withSeries(to.group.series(message.series.name), to.group);
  }

  #hold(message: JoinMessage): boolean {
    return holdMessage(this.#ctx, message);
  }

  #release(message: JoinMessage): void {
    releaseMessage(this.#ctx, message);
  }
}

type MessageCode = { readonly point?: PointCode; readonly batch?: BatchCode };

export const runningJoin = implement(joinNode, (ctx) => new JoinNode(ctx));
