// combine: pairs points of one group and time with each other, every combination that the
// expressions accept.
import { combineNode } from '@tidemark/pipeline';
import type { PointsCode } from '../data/codec.ts';
import { decodePoints, encodePoints } from '../data/codec.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch } from '../data/point.ts';
import { Point } from '../data/point.ts';
import type { Field, Value, ValueType } from '../data/schema.ts';
import { ownSchema } from '../data/schema.ts';
import type { GroupStatesCode } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import { EvaluationError } from '../lambda/errors.ts';
import type { Lambda } from '../lambda/lambda.ts';
import type { Frame } from '../lambda/typed.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { roundTime } from '../time-math.ts';
import { compileFor } from '../node-parts/compile.ts';

type Pending = { time: bigint; points: Point[]; readonly frames: readonly Frame[] };

export class CombineNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { state: this };
  readonly #ctx: ContextOf<typeof combineNode>;
  readonly #lambdas: readonly Lambda[];
  readonly #pending: GroupStates<Pending>;

  constructor(ctx: ContextOf<typeof combineNode>) {
    this.#ctx = ctx;
    this.#lambdas = ctx.options.expressions.map((spec, i) =>
      compileFor(spec, `Failed to compile ${i} expression`),
    );
    this.#pending = new GroupStates(() => this.#fresh());
  }

  get groupCount(): number {
    return this.#pending.count;
  }

  point(point: Point): void {
    const pending = this.#pending.get(point.group);
    const time = roundTime(point.time, this.#ctx.options.toleranceNanos);
    if (pending.points.length > 0 && pending.time !== time) this.#flush(pending, point.group);
    pending.time = time;
    if (this.#ctx.hold(point)) pending.points.push(point);
    else this.#ctx.fail('too many points', 'the task holds too many points');
  }

  batch(batch: Batch): void {
    this.#pending.get(batch.group);
    let current = this.#fresh();
    for (const point of batch.points) {
      const time = roundTime(point.time, this.#ctx.options.toleranceNanos);
      if (current.points.length > 0 && current.time !== time) {
        this.#combine(current, batch.group);
        current = { ...current, points: [] };
      }
      current.time = time;
      current.points.push(point);
    }
    this.#combine(current, batch.group);
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    for (const point of this.#pending.delete(group)?.points ?? []) this.#ctx.release(point);
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    return this.#pending.encode(({ time, points, frames }) => ({
      time,
      points: encodePoints(points),
      states: frames.map((frame) => frame.states),
    }));
  }

  restore(state: unknown): void {
    const { task } = this.#ctx;
    type Code = { time: bigint; points: PointsCode; states: Frame['states'][] };
    this.#pending.decode(task, state as GroupStatesCode<Code>, (code) => ({
      time: code.time,
      points: decodePoints(task, code.points).filter((point) => this.#ctx.hold(point)),
      frames: this.#lambdas.map((lambda, i) =>
        lambda.restoreFrame(code.states[i] ?? [], task.callContext),
      ),
    }));
  }

  #fresh(): Pending {
    const frames = this.#lambdas.map((lambda) => lambda.frame(this.#ctx.task.callContext));
    return { time: 0n, points: [], frames };
  }

  #flush(pending: Pending, group: Group): void {
    const { points } = pending;
    pending.points = [];
    for (const point of points) this.#ctx.release(point);
    this.#combine({ ...pending, points }, group);
  }

  #combine(pending: Pending, group: Group): void {
    const { points, time, frames } = pending;
    const size = this.#lambdas.length;
    if (points.length < size || size === 0) return;
    const total = binomial(points.length, size);
    const max = this.#ctx.options.max;
    if (total > max) {
      this.#ctx.abort(
        `refusing to perform combination as total combinations ${total} exceeds max combinations ${max}`,
      );
    }
    // One result per point and expression: a point takes part in many combinations.
    const matches = this.#lambdas.map((lambda, i) =>
      points.map((point) => this.#matches(lambda, frames[i] as Frame, point)),
    );
    const indexes = Array.from({ length: size }, (_, i) => i);
    for (;;) {
      const chosen = assign(matches, indexes);
      if (chosen !== undefined) {
        const parts = chosen.map((index) => points[index] as Point);
        this.#ctx.out.point(this.#merge(parts, { group, time }));
      }
      if (!nextCombination(indexes, points.length)) return;
    }
  }

  #matches(lambda: Lambda, frame: Frame, point: Point): boolean {
    try {
      return lambda.test(point, frame);
    } catch (cause) {
      if (!(cause instanceof EvaluationError)) throw cause;
      this.#ctx.fail('error evaluating lambda expression', cause.message);
      return false;
    }
  }

  #merge(parts: readonly Point[], at: { readonly group: Group; readonly time: bigint }): Point {
    const { as, delimiter } = this.#ctx.options;
    const { group, time } = at;
    const fields: { name: string; type: ValueType }[] = [];
    const own: Value[] = [];
    const tags = new Map<string, string>(group.series('').tagMap());
    const seen = new Map<string, number>();
    const put = (name: string, field: Field, value: Value): void => {
      const index = seen.get(name);
      if (index !== undefined) {
        fields[index] = { name, type: field.type };
        own[index] = value;
        return;
      }
      seen.set(name, fields.push({ name, type: field.type }) - 1);
      own.push(value);
    };
    for (const [i, part] of parts.entries()) {
      const prefix = `${as[i] ?? ''}${delimiter}`;
      for (const field of part.schema.fields) put(prefix + field.name, field, field.read(part));
      part.series.keys.names.forEach((key, k) => {
        const isGroupTag = group.dimensions.tagNames.includes(key);
        if (!isGroupTag) tags.set(prefix + key, part.series.values[k] ?? '');
      });
    }
    const name = parts[0]?.series.name ?? '';
    const series = this.#ctx.task.series.of(name, tags);
    return Point.of({ time, series, group, schema: ownSchema(fields), own });
  }
}

function binomial(n: number, k: number): bigint {
  let result = 1n;
  for (let i = 1; i <= k; i++) result = (result * BigInt(n - k + i)) / BigInt(i);
  return result;
}

/** For each expression the first unused point of the combination that it accepts. */
function assign(
  matches: readonly (readonly boolean[])[],
  indexes: readonly number[],
): number[] | undefined {
  const used = new Set<number>();
  const chosen: number[] = [];
  for (const accepted of matches) {
    const index = indexes.find((i) => accepted[i] === true && !used.has(i));
    if (index === undefined) return undefined;
    used.add(index);
    chosen.push(index);
  }
  return chosen;
}

/** The next combination in index order; false after the last. */
function nextCombination(indexes: number[], n: number): boolean {
  const k = indexes.length;
  let i = k - 1;
  while (i >= 0 && indexes[i] === n - k + i) i--;
  if (i < 0) return false;
  indexes[i] = (indexes[i] ?? 0) + 1;
  for (let j = i + 1; j < k; j++) indexes[j] = (indexes[j - 1] ?? 0) + 1;
  return true;
}

export const runningCombine = implement(combineNode, (ctx) => new CombineNode(ctx));
