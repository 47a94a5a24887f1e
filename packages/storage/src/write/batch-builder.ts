// Points to validated columns: finds series and shard, checks field types and limits, refuses what the rules refuse.
// Rules and their order: the reference of the write endpoint, "semantic rules".
import { assert } from '@tidemark/core';
import type { FieldType, Timestamp } from '@tidemark/core';

import { Table } from '../memtable/table.ts';
import {
  BEYOND_RETENTION,
  fieldTypeConflict,
  seriesLimit,
  tagValueLimit,
  timeField,
  timeTag,
} from '../messages.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import type { SeriesId, SeriesIndex, TagPair } from '../series/series-index.ts';
import type { ShardStore } from '../shard/shard-store.ts';
import type { Shard } from '../shard/shard.ts';
import type { NewPoint, PolicyRef } from '../storage-engine.ts';
import type { TagValueCounter } from './tag-value-counter.ts';
import type { DefinedField, ShardTables, WriteBatch } from './write-batch.ts';

/** Why a point was refused. Reasons of a lower stage are reported before those of a higher one. */
export type Refusal = { readonly stage: number; readonly reason: string };

const Stage = { Limit: 0, TimeTag: 1, Field: 2, Retention: 3 } as const;

/** A point whose tags are canonical; `series` identifies them between points and requests. */
export type BuilderPoint = {
  readonly measurement: string;
  readonly tags: readonly TagPair[];
  readonly fields: NewPoint['fields'];
  readonly time: Timestamp;
};

/** What is known about a series from earlier points of it. */
export type ResolvedSeries = {
  readonly index: SeriesIndex;
  readonly measurement: MeasurementIndex;
  readonly id: SeriesId;
};

export type BuilderParts = {
  readonly index: SeriesIndex;
  readonly shards: ShardStore;
  readonly tagValues: TagValueCounter;
  /** Ids of new series that were let in but are not applied yet: they count against the limit. */
  readonly admitted: Set<SeriesId>;
};

type OpenTable = {
  readonly table: Table;
  readonly shard: Shard;
  readonly measurement: MeasurementIndex;
  /** Per column: the stamp of the last row that set it. */
  setStamp: Uint32Array;
};

/** Builds one batch for one policy. */
export class BatchBuilder {
  readonly #parts: BuilderParts;
  readonly #policy: PolicyRef;
  readonly #tables = new Map<Shard, Map<number, OpenTable>>();
  readonly #definedFields: DefinedField[] = [];
  /** Number of values per measurement and tag key before this request. */
  readonly #valuesBefore = new Map<string, number>();
  #shard: Shard | undefined;
  #open: OpenTable | undefined;
  #stamp = 0;
  points = 0;
  values = 0;

  constructor(parts: BuilderParts, policy: PolicyRef) {
    this.#parts = parts;
    this.#policy = policy;
  }

  finish(): WriteBatch {
    const parts: ShardTables[] = [];
    for (const [shard, tables] of this.#tables) {
      const byMeasurement = new Map<number, Table>();
      for (const [id, open] of tables) if (open.table.rows > 0) byMeasurement.set(id, open.table);
      if (byMeasurement.size > 0) parts.push({ shard, tables: byMeasurement });
    }
    return { parts, definedFields: this.#definedFields };
  }

  /** Adds a point or says why not. `known` spares the look-up of the series. */
  add(point: BuilderPoint, known?: ResolvedSeries): Refusal | ResolvedSeries {
    const { oldestAccepted } = this.#policy;
    if (known === undefined && hasTimeTag(point.tags)) {
      return { stage: Stage.TimeTag, reason: timeTag(point.measurement) };
    }
    if (oldestAccepted !== undefined && point.time < oldestAccepted) {
      return { stage: Stage.Retention, reason: BEYOND_RETENTION };
    }
    const series = this.#resolve(point, known);
    if ('reason' in series) return series;
    const open = this.#openTable(series.measurement, point.time);
    const refusal = this.#checkFields(open, point);
    if (refusal !== undefined) return { stage: Stage.Field, reason: refusal };
    this.#append(open, series.id, point);
    return series;
  }

  #resolve(point: BuilderPoint, known: ResolvedSeries | undefined): Refusal | ResolvedSeries {
    const { index } = this.#parts;
    const { maxSeriesPerDatabase, maxValuesPerTag } = this.#policy;
    if (known !== undefined && known.index === index) {
      if (index.isLive(known.id) || maxSeriesPerDatabase === 0) return known;
    }
    const measurement = index.addMeasurement(point.measurement);
    const existing = index.findSeries(measurement, point.tags);
    const isKnown = existing >= 0 && (index.isLive(existing) || this.#parts.admitted.has(existing));
    if (!isKnown) {
      const reason =
        this.#seriesLimitReason(maxSeriesPerDatabase) ??
        this.#tagValueLimitReason(measurement, point.tags, maxValuesPerTag);
      if (reason !== undefined) return { stage: Stage.Limit, reason };
    }
    const id = existing >= 0 ? existing : index.addSeries(measurement, point.tags);
    if (!isKnown && maxSeriesPerDatabase > 0) this.#parts.admitted.add(id);
    return { index, measurement, id };
  }

  #seriesLimitReason(limit: number): string | undefined {
    if (limit === 0) return undefined;
    const { index, admitted } = this.#parts;
    let pending = 0;
    for (const id of admitted) if (!index.isLive(id)) pending++;
    return index.liveSeries + pending >= limit ? seriesLimit(limit) : undefined;
  }

  // The check looks at the values known before the request, so one request may overshoot, as recorded.
  #tagValueLimitReason(
    measurement: MeasurementIndex,
    tags: readonly TagPair[],
    limit: number,
  ): string | undefined {
    if (limit === 0) return undefined;
    const { tagValues, index } = this.#parts;
    for (const [key, value] of tags) {
      const known = tagValues.valuesOf(measurement, key);
      const place = `${measurement.id} ${key}`;
      const before = this.#valuesBefore.get(place) ?? known.size;
      this.#valuesBefore.set(place, before);
      if (before < limit || known.has(index.findText(value))) continue;
      return tagValueLimit({ measurement: measurement.name, key, value }, { known: before, limit });
    }
    return undefined;
  }

  #openTable(measurement: MeasurementIndex, time: Timestamp): OpenTable {
    const last = this.#open;
    let shard = this.#shard;
    if (shard === undefined || time < shard.descriptor.start || time >= shard.descriptor.end) {
      shard = this.#parts.shards.findOrCreate(this.#policy, time);
      this.#shard = shard;
    } else if (last !== undefined && last.measurement === measurement && last.shard === shard) {
      return last;
    }
    let tables = this.#tables.get(shard);
    if (tables === undefined) {
      tables = new Map();
      this.#tables.set(shard, tables);
    }
    let open = tables.get(measurement.id);
    if (open === undefined) {
      open = {
        table: new Table(measurement.id),
        shard,
        measurement,
        setStamp: new Uint32Array(16),
      };
      tables.set(measurement.id, open);
    }
    this.#open = open;
    return open;
  }

  /** Checks all fields of a point before any is stored: a conflicting point is dropped as a whole. */
  #checkFields(open: OpenTable, point: BuilderPoint): string | undefined {
    const { fields, measurement } = point;
    let usable = 0;
    for (let i = 0; i < fields.length; i++) {
      const [name, value] = fields[i]!;
      if (name === 'time') continue;
      const written = fieldTypeOf(value);
      if (written === undefined) continue;
      usable++;
      const guess = open.table.columns[i];
      const existing =
        guess?.name === name ? guess.type : (this.#typeOf(open, name) ?? typeInPoint(fields, i));
      if (existing !== undefined && existing !== written) {
        return fieldTypeConflict({ name, measurement }, { written, existing });
      }
    }
    return usable === 0 ? timeField(measurement) : undefined;
  }

  #typeOf(open: OpenTable, field: string): FieldType | undefined {
    const column = open.table.columns[open.table.columnIndex(field)];
    return column?.type ?? open.shard.fields.get(open.measurement.id, field);
  }

  #append(open: OpenTable, series: SeriesId, point: BuilderPoint): void {
    const { table } = open;
    const row = table.addRow(series, point.time);
    const stamp = ++this.#stamp;
    for (let i = 0; i < point.fields.length; i++) {
      const [name, value] = point.fields[i]!;
      if (name === 'time') continue;
      const type = fieldTypeOf(value);
      if (type === undefined) continue;
      const at = this.#column(open, name, type, i);
      if (open.setStamp[at] !== stamp) this.values++;
      open.setStamp[at] = stamp;
      const column = table.columns[at]!;
      switch (type) {
        case 'float':
          column.values[row] = value as number;
          break;
        case 'integer':
          (column.values as BigInt64Array)[row] = value as bigint;
          break;
        case 'unsigned':
          (column.values as BigUint64Array)[row] = (value as { unsigned: bigint }).unsigned;
          break;
        case 'boolean':
          column.values[row] = value === true ? 1 : 0;
          break;
        case 'string':
          column.values[row] = column.pool!.code(value as string);
          break;
      }
    }
    table.finishRow(open.setStamp, stamp);
    this.points++;
  }

  /** Index of the column; lines of a batch usually list the same fields in the same order, so `guess` mostly hits. */
  #column(open: OpenTable, name: string, type: FieldType, guess: number): number {
    const { table } = open;
    if (table.columns[guess]?.name === name) return guess;
    let at = table.columnIndex(name);
    if (at >= 0) return at;
    // A new column of a table that already has rows must not claim the present row as null or set.
    at = table.addColumn(name, type);
    if (at >= open.setStamp.length) {
      const grown = new Uint32Array(open.setStamp.length * 2);
      grown.set(open.setStamp);
      open.setStamp = grown;
    }
    const { fields } = open.shard;
    const measurementId = open.measurement.id;
    if (fields.get(measurementId, name) === undefined) {
      fields.set(measurementId, name, type);
      this.#definedFields.push({ shard: open.shard, measurementId, field: name });
    }
    return at;
  }
}

function hasTimeTag(tags: readonly TagPair[]): boolean {
  for (const [key] of tags) if (key === 'time') return true;
  return false;
}

/** Type of a field value; `undefined` for NaN and infinities, which can not be stored. */
function fieldTypeOf(value: NewPoint['fields'][number][1]): FieldType | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? 'float' : undefined;
    case 'bigint':
      return 'integer';
    case 'boolean':
      return 'boolean';
    case 'string':
      return 'string';
    case 'object':
      assert(typeof value.unsigned === 'bigint', 'an unsigned value holds a bigint');
      return 'unsigned';
  }
}

/** Type of the same field earlier in the point. */
function typeInPoint(fields: NewPoint['fields'], before: number): FieldType | undefined {
  const name = fields[before]![0];
  for (let i = 0; i < before; i++) {
    if (fields[i]![0] === name) return fieldTypeOf(fields[i]![1]);
  }
  return undefined;
}
