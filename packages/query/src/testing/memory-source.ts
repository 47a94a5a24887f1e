// A SeriesSource in memory: slow, small and obviously correct. The reference model of the
// interface, for tests.
import type { FieldType, FieldValue } from '@tidemark/core';
import {
  columnFrom,
  compareBytes,
  floorMod,
  formatSeriesKey,
  reportedType,
  wrapInteger,
} from '@tidemark/core';

import { pickTied } from '../functions/merge-heads.ts';
import { collectNames } from '../measurement-names.ts';
import { eachMeasurement } from '../each-measurement.ts';
import { AGGREGATE_FUNCTIONS, FOLD_FUNCTIONS } from '../series-source.ts';
import type {
  AggregateBatch,
  AggregateColumn,
  AggregateFunction,
  MeasurementAggregates,
  CostRequest,
  MeasurementRef,
  Predicate,
  RequestOptions,
  ScanRequest,
  SeriesBatch,
  SeriesSource,
  SourceCapabilities,
  SourceCost,
  SourceSnapshot,
} from '../series-source.ts';
import type { Operator, Steps } from '../operator.ts';
import { foldedPoints } from './memory-folds.ts';
import { holds, mayHold, readField, shardStart, typed } from './memory-data.ts';
import type { MemoryPoint, Policy, Row, Series } from './memory-data.ts';
import { schemaOf } from './memory-schema.ts';

/** The capabilities of the model; tests remove some to exercise the other plans. */
export const MEMORY_CAPABILITIES: SourceCapabilities = {
  hasSnapshots: false,
  aggregateFunctions: new Set(AGGREGATE_FUNCTIONS),
  foldFunctions: new Set(FOLD_FUNCTIONS),
  filtersFields: true,
  calculatesConditions: true,
  ranksRows: false,
};

/** Databases with their retention policies and points. */
export class MemorySource implements SeriesSource {
  readonly capabilities = MEMORY_CAPABILITIES;
  readonly #policies: Policy[] = [];
  /** Rows of one batch; small, so that tests see series that span batches. */
  readonly #batchRows: number;

  constructor(batchRows = 3) {
    this.#batchRows = batchRows;
  }

  addPolicy(database: string, name: string, shardNanos: bigint): void {
    if (this.#find(database, name) === undefined) {
      this.#policies.push({ database, name, shardNanos, series: new Map() });
    }
  }

  dropDatabase(database: string): void {
    for (let i = this.#policies.length - 1; i >= 0; i--) {
      if (this.#policies[i]!.database === database) this.#policies.splice(i, 1);
    }
  }

  #find(database: string, name: string): Policy | undefined {
    return this.#policies.find((p) => p.database === database && p.name === name);
  }

  /** Writes points; returns how many were refused, and the reason for the first. */
  write(
    database: string,
    policyName: string,
    points: readonly MemoryPoint[],
  ): { readonly count: number; readonly reason: string } | undefined {
    const policy = this.#find(database, policyName);
    if (policy === undefined) {
      return { count: points.length, reason: `retention policy not found: ${policyName}` };
    }
    const reasons = points.flatMap((point) => this.#writePoint(policy, point) ?? []);
    const [reason] = reasons;
    return reason === undefined ? undefined : { count: reasons.length, reason };
  }

  #writePoint(policy: Policy, point: MemoryPoint): string | undefined {
    for (const [name, value] of point.fields) {
      const type = typed(value).type;
      const known = fieldTypeInShard(policy, point, name);
      if (known !== undefined && known !== type) {
        return `field type conflict: input field "${name}" on measurement "${point.measurement}" is type ${reportedType(type)}, already exists as type ${reportedType(known)}`;
      }
    }
    const key = formatSeriesKey(point.measurement, point.tags);
    let series = policy.series.get(key);
    if (series === undefined) {
      const tags = [...point.tags].sort((a, b) => compareBytes(a[0], b[0]));
      series = { key, measurement: point.measurement, tags: new Map(tags), rows: new Map() };
      policy.series.set(key, series);
    }
    let row = series.rows.get(point.time);
    if (row === undefined)
      series.rows.set(point.time, (row = { time: point.time, fields: new Map() }));
    for (const [name, value] of point.fields) row.fields.set(name, typed(value));
    return undefined;
  }

  snapshot(): SourceSnapshot {
    return {
      schema: (request, options) =>
        schemaOf({ policies: this.#policies, batchEntries: this.#batchRows }, request, options),
      names: (filter, options) => {
        const policies = this.#policies;
        const request = { kind: 'names', filter } as const;
        const answer = schemaOf({ policies, batchEntries: this.#batchRows }, request, options);
        return collectNames(filter.database, answer);
      },
      scan: (request, options) => this.#scan(request, options),
      aggregate: (request, options) =>
        eachMeasurement(request, (one) => this.#aggregate(one, options)),
      cost: (request) => done(this.#cost(request)),
      close: () => {},
    };
  }

  #matching(source: MeasurementRef, where: Predicate | undefined): Series[] {
    const policy = this.#find(source.database, source.retentionPolicy);
    if (policy === undefined) return [];
    return [...policy.series.values()].filter(
      (series) =>
        series.measurement === source.measurement &&
        (where === undefined || mayHold(where, series.tags)),
    );
  }

  /** Series in the order of the answer, with their rows that match, in the order of the answer. */
  #rows(
    request: ScanRequest | MeasurementAggregates,
    wanted: readonly { readonly name: string; readonly type: FieldType }[],
  ): { series: Series; rows: Row[] }[] {
    const { timeRange, where, descending } = request;
    const direction = descending ? -1 : 1;
    const matching = this.#matching(request.source, where);
    matching.sort((a, b) => {
      const names = request.groupBy === 'all' ? [] : request.groupBy;
      for (const name of names) {
        const order = compareBytes(a.tags.get(name) ?? '', b.tags.get(name) ?? '');
        if (order !== 0) return order * direction;
      }
      return compareBytes(a.key, b.key) * direction;
    });
    return matching.map((series) => ({
      series,
      rows: [...series.rows.values()]
        .filter(
          (row) =>
            row.time >= timeRange.start &&
            row.time <= timeRange.end &&
            wanted.some((field) => readField(row, field) !== null) &&
            (where === undefined || holds(where, series.tags, row)),
        )
        .sort((a, b) => (a.time < b.time ? -direction : direction)),
    }));
  }

  *#scan(request: ScanRequest, options: RequestOptions): Operator<SeriesBatch> {
    for (const { series, rows } of this.#rows(request, request.fields)) {
      const limited = rows.slice(0, request.limitPerSeries);
      for (let at = 0; at < limited.length; at += this.#batchRows) {
        options.signal.throwIfAborted();
        const part = limited.slice(at, at + this.#batchRows);
        yield {
          seriesKey: series.key,
          tags: series.tags,
          times: BigInt64Array.from(part, (row) => row.time),
          columns: request.fields.map((field) =>
            columnFrom(
              field.type,
              part.map((row) => readField(row, field)),
            ),
          ),
        };
      }
    }
  }

  *#aggregate(request: MeasurementAggregates, options: RequestOptions): Operator<AggregateBatch> {
    const groups = new Map<string, { tags: Map<string, string>; series: Row[][] }>();
    const { aggregates, folds = [] } = request;
    const wanted = [...aggregates, ...folds].map(({ field, type }) => ({ name: field, type }));
    for (const { series, rows } of this.#rows(request, wanted)) {
      const names = request.groupBy === 'all' ? [...series.tags.keys()] : request.groupBy;
      const tags = new Map(names.map((name) => [name, series.tags.get(name) ?? '']));
      const id = JSON.stringify([...tags]);
      const group = groups.get(id) ?? { tags, series: [] };
      groups.set(id, group);
      group.series.push(rows);
    }
    for (const { tags, series } of groups.values()) {
      options.signal.throwIfAborted();
      const windows = this.#windows(request, tags, series.flat());
      if (request.picksTiedByKey === true) yield* this.#settled(request, series, windows);
      else yield* windows;
    }
  }

  /** The only window of a group, with what `first` and `last` choose among rows of one time. */
  *#settled(
    { source, aggregates, descending }: MeasurementAggregates,
    series: readonly (readonly Row[])[],
    windows: Iterable<AggregateBatch>,
  ): Iterable<AggregateBatch> {
    const policy = this.#find(source.database, source.retentionPolicy)!;
    const byKey = descending ? series.toReversed() : series;
    for (const { fields, ...batch } of windows) {
      yield {
        ...batch,
        fields: aggregates.map(({ field, type, functions }, i) =>
          functions.map((name, j): AggregateColumn => {
            const column = fields[i]![j]!;
            if (name !== 'first' && name !== 'last') return column;
            const rows = byKey.map((each) => pointsOf(each, { name: field, type }));
            const value = pickAmong(rows, name, (time) => shardStart(policy, time));
            return { ...column, values: columnFrom(type, [value ?? null]) };
          }),
        ),
      };
    }
  }

  *#windows(
    request: MeasurementAggregates,
    groupTags: ReadonlyMap<string, string>,
    rows: readonly Row[],
  ): Iterable<AggregateBatch> {
    const windows = new Map<bigint, Row[]>();
    for (const row of rows) {
      const { window, timeRange } = request;
      const start =
        window === undefined
          ? timeRange.start
          : row.time - floorMod(row.time - window.offsetNanos, window.everyNanos);
      const list = windows.get(start) ?? [];
      windows.set(start, list);
      list.push(row);
    }
    const direction = request.descending ? -1 : 1;
    const ordered = [...windows]
      .sort(([a], [b]) => (a < b ? -direction : direction))
      .slice(0, request.limitWindows);
    for (let at = 0; at < ordered.length; at += this.#batchRows) {
      const part = ordered.slice(at, at + this.#batchRows);
      yield {
        groupTags,
        windowStarts: BigInt64Array.from(part, ([start]) => start),
        fields: request.aggregates.map(({ field, type, functions }) =>
          functions.map((name) => aggregateColumn(name, { name: field, type }, part)),
        ),
        points: request.folds?.map(({ field, type, functions }) =>
          functions.map((wanted) =>
            foldedPoints(wanted, {
              type,
              windows: part.map(([, rows]) => pointsOf(rows, { name: field, type })),
              descending: request.descending,
            }),
          ),
        ),
      };
    }
  }

  #cost(request: CostRequest): SourceCost {
    const policy = this.#find(request.source.database, request.source.retentionPolicy);
    const shards = new Set<bigint>();
    const series = this.#matching(request.source, request.where);
    let cachedValues = 0;
    for (const row of series.flatMap((one) => [...one.rows.values()])) {
      if (row.time < request.timeRange.start || row.time > request.timeRange.end) continue;
      if (policy !== undefined) shards.add(shardStart(policy, row.time));
      cachedValues += request.fields.filter((field) => row.fields.has(field)).length;
    }
    return {
      shards: shards.size,
      series: series.length,
      cachedValues,
      files: 0,
      blocks: 0,
      blockBytes: 0,
    };
  }
}

function fieldTypeInShard(policy: Policy, point: MemoryPoint, name: string): FieldType | undefined {
  const shard = shardStart(policy, point.time);
  for (const series of policy.series.values()) {
    if (series.measurement !== point.measurement) continue;
    for (const row of series.rows.values()) {
      if (shardStart(policy, row.time) !== shard) continue;
      const field = row.fields.get(name);
      if (field !== undefined) return field.type;
    }
  }
  return undefined;
}

type Picked = { readonly value: FieldValue; readonly time: bigint };

function aggregateColumn(
  name: AggregateFunction,
  field: { readonly name: string; readonly type: FieldType },
  windows: readonly (readonly [bigint, readonly Row[]])[],
): AggregateColumn {
  const results = windows.map(([, rows]) => {
    const points = pointsOf(rows, field);
    return points.length === 0 ? undefined : aggregateOf(name, field.type, points);
  });
  const type = name === 'count' ? 'integer' : name === 'mean' ? 'float' : field.type;
  const values = columnFrom(
    type,
    results.map((result) => result?.value ?? null),
  );
  return { values, pointTimes: BigInt64Array.from(results, (result) => result?.time ?? 0n) };
}

function pointsOf(
  rows: readonly Row[],
  field: { readonly name: string; readonly type: FieldType },
): readonly Picked[] {
  return rows.flatMap((row): Picked[] => {
    const value = readField(row, field);
    return value === null ? [] : [{ value, time: row.time }];
  });
}

/**
 * The choice of `first` or `last` among the points of several series, which are in the order of
 * keys.
 */
function pickAmong(
  series: readonly (readonly Picked[])[],
  name: 'first' | 'last',
  shardOf: (time: bigint) => bigint,
): FieldValue | undefined {
  const isBetter = (a: bigint, b: bigint): boolean => (name === 'first' ? a < b : a > b);
  const ends = series.flatMap((points) => {
    const [first, ...others] = points;
    return first ? [others.reduce((a, b) => (isBetter(b.time, a.time) ? b : a), first)] : [];
  });
  const times = ends.map(({ time }) => time);
  const best = times.reduce((a, b) => (isBetter(b, a) ? b : a), times[0] ?? 0n);
  const heads = ends.filter(({ time }) => shardOf(time) === shardOf(best));
  const tied = heads.flatMap(({ time, value }, place) => (time === best ? [{ place, value }] : []));
  const [one, ...more] = tied;
  return one && pickTied([one, ...more], heads.length, name).value;
}

function aggregateOf(
  name: AggregateFunction,
  type: FieldType,
  points: readonly Picked[],
): Picked | undefined {
  if (name === 'count') return { value: BigInt(points.length), time: 0n };
  if (name === 'first' || name === 'last') {
    return points.reduce((best, point) => {
      if (point.time !== best.time) {
        return point.time < best.time === (name === 'first') ? point : best;
      }
      const prefersLarger = !(typeof point.value === 'boolean' && name === 'first');
      return point.value > best.value === prefersLarger ? point : best;
    });
  }
  if (type === 'string') return undefined;
  if (name === 'min' || name === 'max') {
    return points.reduce((best, point) => {
      if (point.value === best.value) return point.time < best.time ? point : best;
      return point.value < best.value === (name === 'min') ? point : best;
    });
  }
  if (type === 'boolean') return undefined;
  const value = arithmetic(
    name,
    type,
    points.map((point) => point.value as number | bigint),
  );
  return { value, time: 0n };
}

function arithmetic(
  name: AggregateFunction,
  type: FieldType,
  values: readonly (number | bigint)[],
): number | bigint {
  const wrap = (value: bigint): bigint => wrapInteger(type, value);
  if (type === 'float') {
    const numbers = values.map(Number);
    if (name === 'spread') return Math.max(...numbers) - Math.min(...numbers);
    const sum = numbers.reduce((total, value) => total + value, 0);
    return name === 'mean' ? sum / numbers.length : sum;
  }
  const integers = values.map(BigInt);
  if (name === 'spread') {
    const sorted = [...integers].sort((a, b) => (a < b ? -1 : 1));
    return wrap(sorted.at(-1)! - sorted[0]!);
  }
  const sum = integers.reduce((total, value) => total + value, 0n);
  return name === 'mean' ? Number(sum) / integers.length : wrap(sum);
}

/** Work that is already done. */
function* done<T>(value: T): Steps<T> {
  yield;
  return value;
}
