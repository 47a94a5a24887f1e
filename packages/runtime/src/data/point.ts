// Points and the other messages between nodes. Points do not change after they are emitted, with
// one exception: `detach` moves values to other memory without changing them.
import { formatClockDuration } from '@tidemark/core';
import type { FieldValue, Timestamp } from '@tidemark/core';
import { printLine } from '@tidemark/line-protocol';
import { LOGGED_POINT_LENGTH } from '../limits.ts';
import type { OutputPoint } from '../services.ts';
import type { Group } from './group.ts';
import type { PointRows } from './point-columns.ts';
import type { Field, Rows, Schema, Value, ValueType } from './schema.ts';
import { NO_ROWS } from './schema.ts';
import type { Series } from './series.ts';

/**
 * Database and retention policy a point was written to; empty for points made by batches and joins.
 */
export type Origin = { readonly database: string; readonly retentionPolicy: string };

export const NO_ORIGIN: Origin = { database: '', retentionPolicy: '' };

const NO_VALUES: readonly (Value | Point)[] = [];

export type PointInit = {
  readonly time: Timestamp;
  readonly series: Series;
  readonly group: Group;
  readonly schema: Schema;
  readonly own?: readonly (Value | Point)[] | undefined;
  readonly origin?: Origin | undefined;
};

/** A point on an edge. */
export class Point {
  time: Timestamp;
  series: Series;
  group: Group;
  schema: Schema;
  rows: Rows;
  row: number;
  /** As many values as the schema's `ownLength`; others behind them belong to later points. */
  own: readonly (Value | Point)[];
  origin: Origin;
  /** Number of nodes that keep the point. */
  holdCount = 0;

  constructor(
    time: Timestamp,
    series: Series,
    group: Group,
    schema: Schema,
    rows: Rows,
    row: number,
    own: readonly (Value | Point)[],
    origin: Origin,
  ) {
    this.time = time;
    this.series = series;
    this.group = group;
    this.schema = schema;
    this.rows = rows;
    this.row = row;
    this.own = own;
    this.origin = origin;
  }

  /** A point that owns its values. */
  static of(init: PointInit): Point {
    return new Point(
      init.time,
      init.series,
      init.group,
      init.schema,
      NO_ROWS,
      0,
      init.own ?? NO_VALUES,
      init.origin ?? NO_ORIGIN,
    );
  }

  /** An unshared copy, which `become` may change. */
  clone(): Point {
    return this.withValues(this.schema, [...this.own]);
  }

  /**
   * Turns a clone into a copy of another point: one long-lived object costs the collector less than
   * many that each live until the next one.
   */
  become(point: Point): void {
    const { own } = point;
    if (own.length === this.own.length) {
      const mine = this.own as (Value | Point)[];
      for (let i = 0; i < own.length; i++) mine[i] = own[i] as Value | Point;
    } else {
      this.own = [...own];
    }
    this.time = point.time;
    this.series = point.series;
    this.group = point.group;
    this.schema = point.schema;
    this.rows = point.rows;
    this.row = point.row;
    this.origin = point.origin;
  }

  /** The same fields under other tags and group. */
  withSeries(series: Series, group: Group): Point {
    return new Point(
      this.time,
      series,
      group,
      this.schema,
      this.rows,
      this.row,
      this.own,
      this.origin,
    );
  }

  withTime(time: Timestamp): Point {
    return new Point(
      time,
      this.series,
      this.group,
      this.schema,
      this.rows,
      this.row,
      this.own,
      this.origin,
    );
  }

  /**
   * The values of a point that has this point's own values, and further ones behind them. The first
   * such point takes over the array: points of a chain of nodes share one, of which each reads as
   * many values as its schema has.
   */
  growingValues(): Value[] {
    const { own } = this;
    const { ownLength } = this.schema;
    const isFirst = ownLength > 0 && own.length === ownLength;
    return (isFirst ? own : own.slice(0, ownLength)) as Value[];
  }

  /** The same point with another layout of values; `schema` must fit `own` and the rows. */
  withValues(schema: Schema, own: readonly (Value | Point)[]): Point {
    return new Point(
      this.time,
      this.series,
      this.group,
      schema,
      this.rows,
      this.row,
      own,
      this.origin,
    );
  }

  /**
   * Copies the values out of the write's columns, so that holding the point does not hold the whole
   * write.
   */
  detach(): void {
    const detached = this.schema.detached;
    if (detached === this.schema) return;
    this.own = this.values();
    this.schema = detached;
    this.rows = NO_ROWS;
    this.row = 0;
  }

  values(): Value[] {
    const { fields } = this.schema;
    const values: Value[] = [];
    for (let i = 0; i < fields.length; i++) values.push((fields[i] as Field).read(this));
    return values;
  }

  fieldValue(name: string): Value | undefined {
    return this.schema.field(name)?.read(this);
  }
}

/**
 * A point with its time, and one value: boxed numbers, references to texts. Measured with windows
 * of both.
 */
const POINT_BYTES = 130;
const VALUE_BYTES = 24;

/** Approximate size of a point that a node keeps. Texts are shared and not counted. */
export function heldBytesOf(point: Point): number {
  return POINT_BYTES + VALUE_BYTES * point.schema.fields.length;
}

/**
 * Of a point that a node keeps in typed arrays, with their room for further ones. Measured as
 * above.
 */
const ROW_BYTES = 24;
const CELL_BYTES = 12;

/** Approximate size of a point that a node keeps in `PointColumns`. */
export function heldRowBytes(fieldCount: number): number {
  return ROW_BYTES + CELL_BYTES * fieldCount;
}

/** A buffered batch: points in their order, under one group. */
export class Batch {
  readonly name: string;
  readonly group: Group;
  /** Time of the batch (`tmax`). */
  readonly time: Timestamp;
  /** Group tags, and tags added by nodes. */
  readonly series: Series;
  /** The points of a window in its columns; without them the batch has them as objects. */
  readonly rows: PointRows | undefined;
  #points: readonly Point[] | undefined;

  constructor(series: Series, group: Group, time: Timestamp, points: readonly Point[] | PointRows) {
    this.name = series.name;
    this.series = series;
    this.group = group;
    this.time = time;
    const areObjects = isArray(points);
    this.rows = areObjects ? undefined : points;
    this.#points = areObjects ? points : undefined;
  }

  get count(): number {
    return this.rows?.count ?? this.points.length;
  }

  get points(): readonly Point[] {
    if (this.#points === undefined) {
      this.keep();
      this.#points = (this.rows as PointRows).points();
    }
    return this.#points;
  }

  /** Called by nodes that keep the batch beyond the message without having read its points. */
  keep(): void {
    this.rows?.keep();
  }

  withPoints(points: readonly Point[]): Batch {
    return new Batch(this.series, this.group, this.time, points);
  }
}

function isArray(points: readonly Point[] | PointRows): points is readonly Point[] {
  return Array.isArray(points);
}

/** No data older than `time` follows for the group. */
export type Barrier = { readonly group: Group; readonly time: Timestamp };

/** A value as it appears outside: durations and times are nanoseconds there. */
export function outputValue(type: ValueType, value: Value): FieldValue | null {
  return type === 'null' ? null : value;
}

/**
 * A point for the outside. Durations become text when `areDurationsText` (databases have no such
 * type).
 */
export function toOutputPoint(
  point: Point,
  options: { readonly areDurationsText: boolean } = { areDurationsText: false },
): OutputPoint {
  const fields = new Map<string, FieldValue | null>();
  for (const field of point.schema.sorted) {
    const value = field.read(point);
    const isText = options.areDurationsText && field.type === 'duration';
    fields.set(
      field.name,
      isText ? formatClockDuration(value as bigint) : outputValue(field.type, value),
    );
  }
  return { name: point.series.name, tags: point.series.tagMap(), fields, time: point.time };
}

/** Line protocol of a point, as much of it as a line of the log may have. */
export function pointText(point: Point): string {
  const { name, tags, fields, time } = toOutputPoint(point, { areDurationsText: true });
  const values = [...fields].flatMap(([field, value]) =>
    value === null ? [] : [[field, value] as const],
  );
  const text = printLine({ measurement: name, tags, fields: values, time }) ?? `${name} ${time}`;
  const { length } = text;
  return length <= LOGGED_POINT_LENGTH ? text : `${text.slice(0, LOGGED_POINT_LENGTH)}…`;
}
