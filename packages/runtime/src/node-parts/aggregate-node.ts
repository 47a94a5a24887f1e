// The nodes which apply a function of the query language to a field. On a batch the function sees
// the batch; on a stream it sees consecutive points of the group with equal time.
import type { FunctionOptions } from '@tidemark/pipeline';
import type { PointsCode } from '../data/codec.ts';
import { decodePoints, encodePoints } from '../data/codec.ts';
import type { Group } from '../data/group.ts';
import type { Barrier } from '../data/point.ts';
import { Batch, Point } from '../data/point.ts';
import type { PointRows } from '../data/point-columns.ts';
import type { Field, Value, ValueType } from '../data/schema.ts';
import { field, ownSchema, Schema, SchemaCache } from '../data/schema.ts';
import type { GroupStatesCode } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import type { Aggregate, SamplePoints, Samples } from '../influxql/aggregate.ts';
import type { NodeContext, RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';

/** Points of one group and time that wait for a point of another time. */
type Collected = { time: bigint; points: Point[] };

const GO_TYPES: Readonly<Record<ValueType, string>> = {
  float: 'float64',
  int: 'int64',
  string: 'string',
  boolean: 'bool',
  duration: 'time.Duration',
  time: 'time.Time',
  regex: '*regexp.Regexp',
  null: 'nil',
};

class PointList implements SamplePoints {
  readonly #points: readonly Point[];

  constructor(points: readonly Point[]) {
    this.#points = points;
  }

  pointAt(index: number): Point {
    return this.#points[index] as Point;
  }

  timeAt(index: number): bigint {
    return this.pointAt(index).time;
  }
}

export class AggregateNode implements RunningNode {
  readonly capabilities: NodeCapabilities;
  readonly #ctx: NodeContext<FunctionOptions>;
  readonly #aggregate: Aggregate;
  readonly #fields: SchemaCache<Field | undefined>;
  readonly #renamed: SchemaCache<Schema>;
  readonly #states: GroupStates<Collected | undefined>;
  /** Values of one batch, for the time of its processing. */
  #floats = new Float64Array(64);

  constructor(ctx: NodeContext<FunctionOptions>, aggregate: Aggregate) {
    this.#ctx = ctx;
    this.#aggregate = aggregate;
    const { isSelector, otherFields = [] } = aggregate;
    // A selector passes on the other fields of its point.
    const fieldsRead = isSelector ? undefined : [ctx.options.field, ...otherFields];
    this.capabilities = { state: this, fieldsRead };
    this.#fields = new SchemaCache((schema) => schema.field(ctx.options.field));
    this.#renamed = new SchemaCache((schema) => this.#rename(schema));
    this.#states = new GroupStates<Collected | undefined>(() => undefined);
  }

  get groupCount(): number {
    return this.#states.count;
  }

  point(point: Point): void {
    const collected = this.#states.get(point.group);
    if (collected !== undefined && collected.time === point.time) {
      this.#hold(collected.points, point);
      return;
    }
    const points: Point[] = [];
    this.#hold(points, point);
    this.#states.set(point.group, { time: point.time, points });
    if (collected === undefined) return;
    for (const held of collected.points) this.#ctx.release(held);
    const name = collected.points[0]?.series.name ?? '';
    this.#apply(this.#samplesOf(collected.points), point.group, collected.time, { name });
  }

  batch(batch: Batch): void {
    this.#states.get(batch.group);
    if (batch.count > 0) {
      const samples = this.#columnSamples(batch.rows) ?? this.#samplesOf(batch.points);
      this.#apply(samples, batch.group, batch.time, { name: batch.name, batch });
      return;
    }
    const { empty } = this.#aggregate;
    if (empty !== undefined) this.#emitValue(batch.group, batch.name, batch.time, empty);
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    const collected = this.#states.delete(group);
    for (const held of collected?.points ?? []) this.#ctx.release(held);
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    return this.#states.encode((collected) =>
      collected === undefined
        ? undefined
        : { time: collected.time, points: encodePoints(collected.points) },
    );
  }

  restore(state: unknown): void {
    type Code = { time: bigint; points: PointsCode } | undefined;
    const { task } = this.#ctx;
    this.#states.decode(task, state as GroupStatesCode<Code>, (code) => {
      if (code === undefined) return undefined;
      const points = decodePoints(task, code.points).filter((point) => this.#ctx.hold(point));
      return { time: code.time, points };
    });
  }

  #hold(points: Point[], point: Point): void {
    if (this.#ctx.hold(point)) points.push(point);
    else this.#ctx.fail('too many points', 'the task holds too many points');
  }

  #apply(
    samples: Samples | undefined,
    group: Group,
    time: bigint,
    { name, batch }: { readonly name: string; readonly batch?: Batch | undefined },
  ): void {
    if (samples === undefined) {
      const { emptyAfterErrors } = this.#aggregate;
      if (emptyAfterErrors !== undefined && batch !== undefined) {
        this.#emitValue(group, name, time, emptyAfterErrors);
      }
      return;
    }
    const results = this.#aggregate.apply(samples);
    if (this.#aggregate.isMany) {
      const rows = results.map((result) =>
        this.#resultPoint(result, { samples, group, name, time }),
      );
      const series = batch?.series ?? group.series(name);
      // Forecasts are later than the batch: its time follows them.
      const latest = rows.reduce((max, { time: at }) => (at > max ? at : max), time);
      this.#ctx.out.batch(new Batch(series, group, latest, rows));
      return;
    }
    for (const result of results) {
      this.#ctx.out.point(this.#resultPoint(result, { samples, group, name, time }));
    }
  }

  /** The values of a field that all points in columns have, in a usable type. */
  #columnSamples(rows: PointRows | undefined): Samples | undefined {
    if (rows?.schema === undefined) return undefined;
    const found = this.#fields.get(rows.schema);
    if (found === undefined || !this.#aggregate.types.includes(found.type)) return undefined;
    const { type } = found;
    if (type !== 'float') return { type, values: rows.valuesOf(found), points: rows };
    if (this.#floats.length < rows.count) this.#floats = new Float64Array(rows.count * 2);
    rows.copyFloats(found, this.#floats);
    return { type, values: this.#floats.subarray(0, rows.count), points: rows };
  }

  #samplesOf(points: readonly Point[]): Samples | undefined {
    return this.#uniform(points) ?? this.#samples(points);
  }

  /**
   * The values of points that all have the field in one usable type: none is left out, and there
   * are no errors.
   */
  #uniform(points: readonly Point[]): Samples | undefined {
    const values: Value[] = [];
    let schema: Schema | undefined;
    let found: Field | undefined;
    let type: ValueType | undefined;
    let column = -1;
    for (let i = 0; i < points.length; i++) {
      const point = points[i] as Point;
      // Points of the present write have their values in its columns, older ones have their own.
      if (point.schema !== schema) {
        schema = point.schema;
        found = this.#fields.get(schema);
        if (found === undefined || found.type !== (type ?? found.type)) return undefined;
        type = found.type;
        const { slot } = found;
        column = type === 'float' && slot.kind === 'column' ? slot.index : -1;
      }
      if (column >= 0)
        values.push((point.rows.columns[column] as Float64Array)[point.row] as number);
      else values.push((found as Field).read(point));
    }
    if (type === undefined || !this.#aggregate.types.includes(type)) return undefined;
    return { type, values, points: new PointList(points) };
  }

  /** The usable values of the field. The first point decides the type. */
  #samples(points: readonly Point[]): Samples | undefined {
    const { options } = this.#ctx;
    let type: ValueType | undefined;
    const values: Value[] = [];
    const used: Point[] = [];
    for (const point of points) {
      const found = this.#fields.get(point.schema);
      if (found === undefined || found.type === 'null') {
        if (type === undefined) {
          this.#ctx.fail(
            'failed to realize reduce context from fields',
            `field ${JSON.stringify(options.field)} missing from point`,
            point,
          );
        } else {
          this.#ctx.fail(
            'failed to aggregate point in batch',
            `field ${options.field} missing from point cannot aggregate`,
            point,
          );
        }
        continue;
      }
      if (type === undefined && !this.#isUsable(found.type)) continue;
      type ??= found.type;
      if (found.type !== type) {
        this.#ctx.fail(
          'failed to aggregate point in batch',
          `field ${options.field} has wrong type: got ${GO_TYPES[found.type]} exp ${GO_TYPES[type]}`,
          point,
        );
        continue;
      }
      values.push(found.read(point));
      used.push(point);
    }
    return type === undefined ? undefined : { type, values, points: new PointList(used) };
  }

  #isUsable(type: ValueType): boolean {
    if (this.#aggregate.types.includes(type)) return true;
    const { options, spec } = this.#ctx;
    const goType = type === 'boolean' ? 'bool' : type;
    this.#ctx.fail(
      'failed to realize reduce context from fields',
      `invalid influxql func ${spec.type} with field ${options.field}: cannot apply ${spec.type} to ${goType} field`,
    );
    return false;
  }

  #resultPoint(
    result: ReturnType<Aggregate['apply']>[number],
    from: { samples: Samples; group: Group; name: string; time: bigint },
  ): Point {
    const { group, name } = from;
    const { options } = this.#ctx;
    const source =
      result.index === undefined ? undefined : from.samples.points.pointAt(result.index);
    const hasOwnTime = options.isUsingPointTimes && result.isAtPoint;
    const ownTime = result.time ?? source?.time;
    const time = (hasOwnTime ? ownTime : undefined) ?? (result.isAlwaysTimed ? ownTime : undefined);
    if (source !== undefined && this.#aggregate.isSelector) {
      const selected = source.withValues(this.#renamed.get(source.schema), source.own);
      selected.group = group;
      selected.time = time ?? from.time;
      return selected;
    }
    const type = result.type ?? from.samples.type;
    return Point.of({
      time: time ?? from.time,
      series:
        source !== undefined && this.#aggregate.isKeepingTags ? source.series : group.series(name),
      group,
      schema: ownSchema([{ name: options.as, type }]),
      own: [result.value],
    });
  }

  #emitValue(
    group: Group,
    name: string,
    time: bigint,
    value: { readonly type: ValueType; readonly value: Value },
  ): void {
    const schema = ownSchema([{ name: this.#ctx.options.as, type: value.type }]);
    const series = group.series(name);
    this.#ctx.out.point(Point.of({ time, series, group, schema, own: [value.value] }));
  }

  /** The selected point's fields with the chosen one renamed. */
  #rename(schema: Schema): Schema {
    const { options } = this.#ctx;
    const chosen = schema.field(options.field);
    if (chosen === undefined || options.as === options.field) return schema;
    const others = schema.fields.filter(
      ({ name }) => name !== options.field && name !== options.as,
    );
    const renamed = field(options.as, chosen.type, chosen.slot);
    return new Schema([...others, renamed], schema.ownLength);
  }
}
