// Groups, points and batches as structured-cloneable data, for snapshots and for crossing threads.
import type { TaskContext } from '../node.ts';
import type { Group } from './group.ts';
import { Batch, Point } from './point.ts';
import type { Value, ValueType } from './schema.ts';
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

export type BatchCode = {
  readonly series: SeriesCode;
  readonly group: GroupCode;
  readonly time: bigint;
  readonly points: readonly PointCode[];
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

export function encodePoints(points: readonly Point[]): PointCode[] {
  return points.map(encodePoint);
}

export function decodePoints(task: DecodeContext, codes: readonly PointCode[]): Point[] {
  const points: Point[] = [];
  for (const code of codes) {
    const point = decodePoint(task, code);
    if (point !== undefined) points.push(point);
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
