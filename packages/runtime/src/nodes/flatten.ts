// flatten: merges points of equal time into one, with tag values in the field names.
import { flattenNode } from '@tidemark/pipeline';
import type { PointsCode } from '../data/codec.ts';
import { decodePoints, encodePoints } from '../data/codec.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch } from '../data/point.ts';
import { Point } from '../data/point.ts';
import type { Value, ValueType } from '../data/schema.ts';
import { ownSchema } from '../data/schema.ts';
import type { GroupStatesCode } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { roundTime } from '../time-math.ts';

type Pending = { time: bigint; points: Point[] };

export class FlattenNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { state: this };
  readonly #ctx: ContextOf<typeof flattenNode>;
  readonly #pending: GroupStates<Pending | undefined>;

  constructor(ctx: ContextOf<typeof flattenNode>) {
    this.#ctx = ctx;
    this.#pending = new GroupStates<Pending | undefined>(() => undefined);
  }

  get groupCount(): number {
    return this.#pending.count;
  }

  point(point: Point): void {
    const time = roundTime(point.time, this.#ctx.options.toleranceNanos);
    const pending = this.#pending.get(point.group);
    if (pending !== undefined && pending.time === time) {
      this.#hold(pending.points, point);
      return;
    }
    const points: Point[] = [];
    this.#hold(points, point);
    this.#pending.set(point.group, { time, points });
    if (pending !== undefined) this.#emit(pending, point.group);
  }

  batch(batch: Batch): void {
    this.#pending.get(batch.group);
    const results: Point[] = [];
    let current: Pending | undefined;
    for (const point of batch.points) {
      const time = roundTime(point.time, this.#ctx.options.toleranceNanos);
      if (current === undefined || current.time !== time) {
        if (current !== undefined) results.push(...this.#merge(current, batch.group));
        current = { time, points: [] };
      }
      current.points.push(point);
    }
    if (current !== undefined) results.push(...this.#merge(current, batch.group));
    this.#ctx.out.batch(batch.withPoints(results));
  }

  barrier(barrier: Barrier): void {
    const pending = this.#pending.peek(barrier.group);
    if (pending !== undefined && barrier.time > pending.time) {
      this.#pending.set(barrier.group, undefined);
      this.#emit(pending, barrier.group);
    }
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    for (const point of this.#pending.delete(group)?.points ?? []) this.#ctx.release(point);
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    return this.#pending.encode((pending) =>
      pending === undefined
        ? undefined
        : { time: pending.time, points: encodePoints(pending.points) },
    );
  }

  restore(state: unknown): void {
    const { task } = this.#ctx;
    type Code = { time: bigint; points: PointsCode } | undefined;
    this.#pending.decode(task, state as GroupStatesCode<Code>, (code) => {
      if (code === undefined) return undefined;
      const points = decodePoints(task, code.points).filter((point) => this.#ctx.hold(point));
      return { time: code.time, points };
    });
  }

  #hold(points: Point[], point: Point): void {
    if (this.#ctx.hold(point)) points.push(point);
    else this.#ctx.fail('too many points', 'the task holds too many points');
  }

  #emit(pending: Pending, group: Group): void {
    for (const point of pending.points) this.#ctx.release(point);
    for (const point of this.#merge(pending, group)) this.#ctx.out.point(point);
  }

  /**
   * The merged point; later values of a name take precedence. None if no point had all the tags.
   */
  #merge(pending: Pending, group: Group): Point[] {
    const { on, delimiter, isDroppingOriginalFieldName } = this.#ctx.options;
    const types = new Map<string, ValueType>();
    const values = new Map<string, Value>();
    for (const point of pending.points) {
      const missing = on.find((tag) => point.series.tag(tag) === undefined);
      if (missing !== undefined) {
        this.#ctx.fail(
          'point missing tag for flatten operation',
          `tag ${missing} is missing from point`,
        );
        continue;
      }
      const prefix = on.map((tag) => point.series.tag(tag) ?? '');
      for (const field of point.schema.fields) {
        const parts = isDroppingOriginalFieldName ? prefix : [...prefix, field.name];
        const name = parts.join(delimiter);
        types.set(name, field.type);
        values.set(name, field.read(point));
      }
    }
    const [first] = pending.points;
    if (first === undefined || values.size === 0) return [];
    const schema = ownSchema([...types].map(([name, type]) => ({ name, type })));
    const series = group.series(first.series.name);
    return [Point.of({ time: pending.time, series, group, schema, own: [...values.values()] })];
  }
}

export const runningFlatten = implement(flattenNode, (ctx) => new FlattenNode(ctx));
