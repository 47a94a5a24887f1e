// Functions of the query language that give one result per point, with state per group (or per
// batch).
import type { FunctionOptions } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch } from '../data/point.ts';
import { Point } from '../data/point.ts';
import type { Value, ValueType } from '../data/schema.ts';
import { ownSchema } from '../data/schema.ts';
import type { GroupStatesCode } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import type { NodeContext, RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';

type Sample = { readonly time: bigint; readonly value: Value; readonly type: ValueType };
type Result = { readonly type: ValueType; readonly value: Value };

/** State is plain data, so that it can be stored. */
export type Streaming<S> = {
  readonly types: readonly ValueType[];
  readonly init: () => S;
  readonly next: (state: S, sample: Sample) => Result | undefined;
};

type GroupState<S> = { type: ValueType | undefined; state: S };

export class StreamingNode<S> implements RunningNode {
  readonly capabilities: NodeCapabilities = { state: this };
  readonly #ctx: NodeContext<FunctionOptions>;
  readonly #function: Streaming<S>;
  readonly #states: GroupStates<GroupState<S>>;

  constructor(ctx: NodeContext<FunctionOptions>, streaming: Streaming<S>) {
    this.#ctx = ctx;
    this.#function = streaming;
    this.#states = new GroupStates(() => this.#fresh());
  }

  get groupCount(): number {
    return this.#states.count;
  }

  point(point: Point): void {
    const result = this.#next(this.#states.get(point.group), point);
    if (result !== undefined) this.#ctx.out.point(result);
  }

  batch(batch: Batch): void {
    this.#states.get(batch.group);
    const state = this.#fresh();
    const points: Point[] = [];
    for (const point of batch.points) {
      const result = this.#next(state, point);
      if (result !== undefined) points.push(result);
    }
    this.#ctx.out.batch(batch.withPoints(points));
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#states.delete(group);
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    return this.#states.encode((state) => structuredClone(state));
  }

  restore(state: unknown): void {
    this.#states.decode(this.#ctx.task, state as GroupStatesCode<GroupState<S>>, (code) =>
      structuredClone(code),
    );
  }

  #fresh(): GroupState<S> {
    return { type: undefined, state: this.#function.init() };
  }

  #next(group: GroupState<S>, point: Point): Point | undefined {
    const { options, spec } = this.#ctx;
    const found = point.schema.field(options.field);
    if (found === undefined || found.type === 'null') {
      this.#ctx.fail(
        'failed to aggregate point',
        `field ${options.field} missing from point cannot aggregate`,
        point,
      );
      return undefined;
    }
    if (group.type === undefined && !this.#function.types.includes(found.type)) {
      this.#ctx.fail(
        'failed to realize reduce context from fields',
        `invalid influxql func ${spec.type} with field ${options.field}: cannot apply ${spec.type} to ${found.type} field`,
        point,
      );
      return undefined;
    }
    group.type ??= found.type;
    if (group.type !== found.type) {
      this.#ctx.fail(
        'failed to aggregate point',
        `field ${options.field} has wrong type: got ${found.type} exp ${group.type}`,
        point,
      );
      return undefined;
    }
    const sample = { time: point.time, value: found.read(point), type: found.type };
    const result = this.#function.next(group.state, sample);
    if (result === undefined) return undefined;
    return Point.of({
      time: point.time,
      series: point.group.series(point.series.name),
      group: point.group,
      schema: ownSchema([{ name: options.as, type: result.type }]),
      own: [result.value],
    });
  }
}
