// Groups, points and batches as structured-cloneable data, for snapshots and for crossing threads.
import type { TaskContext } from '../node.ts';
import type { Group } from './group.ts';
import { Batch, Point } from './point.ts';
import type { Schema, Value, ValueType } from './schema.ts';
import { ownSchema } from './schema.ts';
import type { Series } from './series.ts';

export type GroupCode = {
  readonly id: string;
  readonly isByName: boolean;
  readonly tagNames: readonly string[];
  readonly values: readonly string[];
};

export type SeriesCode = {
  readonly name: string;
  readonly tagKeys: readonly string[];
  readonly tagValues: readonly string[];
};

export type PointCode = {
  readonly series: SeriesCode;
  readonly group: GroupCode;
  readonly time: bigint;
  readonly fields: readonly (readonly [name: string, type: ValueType, value: Value])[];
  readonly database: string;
  readonly retentionPolicy: string;
};

/** What points have in common that follow each other. */
type PointShape = {
  readonly series: SeriesCode;
  readonly group: GroupCode;
  readonly fields: readonly FieldCode[];
  readonly database: string;
  readonly retentionPolicy: string;
  /** Number of these points. */
  count: number;
};

type FieldCode = readonly [name: string, type: ValueType];

/** Points as a few shapes, and the values of all fields one point after the other. */
export type PointsCode = {
  readonly shapes: readonly PointShape[];
  readonly times: readonly bigint[];
  readonly values: readonly Value[];
};

/** States of earlier builds have each point for itself. */
type AnyPointsCode = PointsCode | readonly PointCode[];

export type BatchCode = {
  readonly series: SeriesCode;
  readonly group: GroupCode;
  readonly time: bigint;
  readonly points: AnyPointsCode;
};

type DecodeContext = Pick<TaskContext, 'groups' | 'series'>;

export function encodeGroup(group: Group): GroupCode {
  return {
    id: group.id,
    isByName: group.dimensions.isByName,
    tagNames: group.dimensions.tagNames,
    values: group.values,
  };
}

/** `undefined` when the task has too many groups. */
export function decodeGroup(task: DecodeContext, code: GroupCode): Group | undefined {
  const dimensions = { isByName: code.isByName, tagNames: code.tagNames };
  return task.groups.named(code.id, dimensions, code.values);
}

export function encodeSeries(series: Series): SeriesCode {
  return { name: series.name, tagKeys: series.keys.names, tagValues: series.values };
}

export function encodePoint(point: Point): PointCode {
  return {
    series: encodeSeries(point.series),
    group: encodeGroup(point.group),
    time: point.time,
    fields: point.schema.fields.map(
      (field) => [field.name, field.type, field.read(point)] as const,
    ),
    database: point.origin.database,
    retentionPolicy: point.origin.retentionPolicy,
  };
}

export function decodePoint(task: DecodeContext, code: PointCode): Point | undefined {
  const group = decodeGroup(task, code.group);
  if (group === undefined) return undefined;
  return Point.of({
    time: code.time,
    series: task.series.intern(code.series),
    group,
    schema: ownSchema(code.fields.map(([name, type]) => ({ name, type }))),
    own: code.fields.map(([, , value]) => value),
    origin: { database: code.database, retentionPolicy: code.retentionPolicy },
  });
}

/** The same object for a schema each time: it is serialized once for all points of a state. */
const fieldCodes = new WeakMap<Schema, readonly FieldCode[]>();

function fieldsOf(schema: Schema): readonly FieldCode[] {
  let code = fieldCodes.get(schema);
  if (code === undefined) {
    code = schema.fields.map(({ name, type }) => [name, type] as const);
    fieldCodes.set(schema, code);
  }
  return code;
}

export function encodePoints(points: readonly Point[]): PointsCode {
  const shapes: PointShape[] = [];
  const times: bigint[] = [];
  const values: Value[] = [];
  let last: Point | undefined;
  for (const point of points) {
    const { series, group, schema, origin } = point;
    const shape = shapes.at(-1);
    const isSame =
      last?.series === series &&
      last.group === group &&
      last.schema === schema &&
      shape?.database === origin.database &&
      shape.retentionPolicy === origin.retentionPolicy;
    if (shape !== undefined && isSame) shape.count++;
    else {
      const of = { series: encodeSeries(series), group: encodeGroup(group), ...origin };
      shapes.push({ ...of, fields: fieldsOf(schema), count: 1 });
    }
    last = point;
    times.push(point.time);
    for (const field of schema.fields) values.push(field.read(point));
  }
  return { shapes, times, values };
}

export function decodePoints(task: DecodeContext, code: AnyPointsCode): Point[] {
  if (!('shapes' in code))
    return code.map((one) => decodePoint(task, one)).filter((point) => point !== undefined);
  const points: Point[] = [];
  let [next, value] = [0, 0];
  for (const { count, fields, series: seriesCode, ...of } of code.shapes) {
    const group = decodeGroup(task, of.group);
    const series = task.series.intern(seriesCode);
    const schema = ownSchema(fields.map(([name, type]) => ({ name, type })));
    const origin = { database: of.database, retentionPolicy: of.retentionPolicy };
    for (const end = next + count; next < end; next++) {
      const time = code.times[next] as bigint;
      const own = code.values.slice(value, (value += fields.length));
      if (group !== undefined) points.push(Point.of({ time, series, group, schema, own, origin }));
    }
  }
  return points;
}

export function encodeBatch(batch: Batch): BatchCode {
  return {
    series: encodeSeries(batch.series),
    group: encodeGroup(batch.group),
    time: batch.time,
    points: encodePoints(batch.points),
  };
}

export function decodeBatch(task: DecodeContext, code: BatchCode): Batch | undefined {
  const group = decodeGroup(task, code.group);
  if (group === undefined) return undefined;
  const series = task.series.intern(code.series);
  return new Batch(series, group, code.time, decodePoints(task, code.points));
}
