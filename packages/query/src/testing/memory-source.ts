// A SeriesSource in memory: slow, small and obviously right. The reference model of the interface, for tests.
import type { FieldType, FieldValue, TimeRange } from '@tidemark/core';
import { columnFrom, compareBytes, floorMod, formatSeriesKey } from '@tidemark/core';

import { convertColumn } from '../batch/column-ops.ts';
import { textMatcher } from '../regex.ts';
import { compareSeriesKeys } from '../series-key.ts';
import type {
  AggregateBatch,
  AggregateColumn,
  AggregateFunction,
  AggregateRequest,
  CostRequest,
  MeasurementRef,
  Predicate,
  RequestOptions,
  ScanRequest,
  SchemaBatch,
  SchemaFilter,
  SchemaRequest,
  SeriesBatch,
  SeriesOrder,
  SeriesSource,
  SourceCapabilities,
  SourceCost,
  SourceSnapshot,
  TagKeyMatch,
} from '../series-source.ts';

export type MemoryValue = FieldValue | { readonly unsigned: bigint };

export type MemoryPoint = {
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
  readonly fields: readonly (readonly [string, MemoryValue])[];
  readonly time: bigint;
};

type Typed = { readonly type: FieldType; readonly value: FieldValue };
type Row = { readonly time: bigint; readonly fields: Map<string, Typed> };
type Series = {
  readonly key: string;
  readonly measurement: string;
  readonly tags: ReadonlyMap<string, string>;
  /** By time. */
  readonly rows: Map<bigint, Row>;
};
type Policy = {
  readonly database: string;
  readonly name: string;
  readonly shardNanos: bigint;
  readonly series: Map<string, Series>;
};

const ALL_FUNCTIONS: readonly AggregateFunction[] = [
  'count',
  'sum',
  'mean',
  'min',
  'max',
  'first',
  'last',
  'spread',
];

/** What the model promises; tests take abilities away to exercise the other plans. */
export const MEMORY_CAPABILITIES: SourceCapabilities = {
  hasSnapshots: false,
  aggregateFunctions: new Set(ALL_FUNCTIONS),
  filtersFields: true,
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

  /** Writes points; tells how many were refused, and why the first of them. */
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
        return `field type conflict: input field "${name}" on measurement "${point.measurement}" is type ${type}, already exists as type ${known}`;
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

  async snapshot(): Promise<SourceSnapshot> {
    return {
      schema: (request, options) => this.#schema(request, options),
      scan: (request, options) => this.#scan(request, options),
      aggregate: (request, options) => this.#aggregate(request, options),
      cost: async (request) => this.#cost(request),
      close: async () => {},
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
    request: ScanRequest | AggregateRequest,
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

  async *#scan(request: ScanRequest, options: RequestOptions): AsyncIterable<SeriesBatch> {
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

  async *#aggregate(
    request: AggregateRequest,
    options: RequestOptions,
  ): AsyncIterable<AggregateBatch> {
    const groups = new Map<string, { tags: Map<string, string>; rows: Row[] }>();
    const wanted = request.aggregates.map(({ field, type }) => ({ name: field, type }));
    for (const { series, rows } of this.#rows(request, wanted)) {
      const names = request.groupBy === 'all' ? [...series.tags.keys()] : request.groupBy;
      const tags = new Map(names.map((name) => [name, series.tags.get(name) ?? '']));
      const id = JSON.stringify([...tags]);
      const group = groups.get(id) ?? { tags, rows: [] };
      groups.set(id, group);
      group.rows.push(...rows);
    }
    for (const { tags, rows } of groups.values()) {
      options.signal.throwIfAborted();
      yield* this.#windows(request, tags, rows);
    }
  }

  *#windows(
    request: AggregateRequest,
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

  #schemaSeries(filter: SchemaFilter): Series[] {
    const matches =
      filter.measurementPattern === undefined ? () => true : textMatcher(filter.measurementPattern);
    const found: Series[] = [];
    for (const policy of this.#policies) {
      if (policy.database !== filter.database) continue;
      if (filter.retentionPolicy !== undefined && policy.name !== filter.retentionPolicy) continue;
      for (const series of policy.series.values()) {
        if (filter.measurements?.includes(series.measurement) === false) continue;
        if (!matches(series.measurement)) continue;
        if (filter.where !== undefined && !mayHold(filter.where, series.tags)) continue;
        if (!hasShardIn(policy, series, filter.timeRange)) continue;
        found.push(series);
      }
    }
    return found;
  }

  async *#schema(request: SchemaRequest, options: RequestOptions): AsyncIterable<SchemaBatch> {
    options.signal.throwIfAborted();
    const series = this.#schemaSeries(request.filter);
    const measurements = sortedUnique(series.map((s) => s.measurement));
    if (request.kind === 'cardinality') {
      const keys = new Set(series.map((s) => s.key));
      const count = request.of === 'series' ? keys.size : measurements.length;
      yield { kind: 'cardinality', count, isExact: true };
      return;
    }
    if (request.kind === 'measurements') {
      for (const names of this.#pieces(measurements)) yield { kind: 'measurements', names };
      return;
    }
    for (const measurement of measurements) {
      options.signal.throwIfAborted();
      const members = series.filter((s) => s.measurement === measurement);
      yield* this.#schemaOf(request, measurement, members);
    }
  }

  *#schemaOf(
    request: Exclude<SchemaRequest, { kind: 'cardinality' | 'measurements' }>,
    measurement: string,
    members: readonly Series[],
  ): Iterable<SchemaBatch> {
    const { kind } = request;
    switch (kind) {
      case 'fields':
        for (const fields of this.#pieces(this.#fields(members, request.filter))) {
          yield { kind, measurement, fields };
        }
        break;
      case 'tag-keys':
        for (const keys of this.#pieces(sortedUnique(members.flatMap((s) => [...s.tags.keys()])))) {
          yield { kind, measurement, keys };
        }
        break;
      case 'tag-values': {
        const pairs = tagPairs(members, request.keys).slice(0, request.limitPerMeasurement);
        for (const { key } of countsByKey(pairs)) {
          const values = pairs.filter((pair) => pair.key === key).map(({ value }) => value);
          for (const piece of this.#pieces(values)) yield { kind, measurement, key, values: piece };
        }
        break;
      }
      case 'tag-cardinality': {
        const keys = countsByKey(tagPairs(members, request.keys));
        if (keys.length > 0) yield { kind, measurement, keys };
        break;
      }
      case 'series':
        for (const keys of this.#pieces(sortedKeys(members, request.order))) {
          yield { kind, measurement, keys };
        }
        break;
      case 'series-cardinality':
        yield { kind, measurement, count: sortedKeys(members).length };
        break;
    }
  }

  *#pieces<T>(entries: readonly T[]): Iterable<readonly T[]> {
    for (let at = 0; at < entries.length; at += this.#batchRows) {
      yield entries.slice(at, at + this.#batchRows);
    }
  }

  #fields(members: readonly Series[], filter: SchemaFilter) {
    const found = new Map<string, { name: string; type: FieldType }>();
    for (const policy of this.#policies) {
      for (const series of members) {
        if (policy.series.get(series.key) !== series) continue;
        for (const row of series.rows.values()) {
          if (!shardOverlaps(policy, row.time, filter.timeRange)) continue;
          for (const [name, { type }] of row.fields) found.set(`${name} ${type}`, { name, type });
        }
      }
    }
    return [...found.values()].sort(
      (a, b) => compareBytes(a.name, b.name) || compareBytes(a.type, b.type),
    );
  }
}

function sortedUnique(values: readonly string[]): string[] {
  return [...new Set(values)].sort(compareBytes);
}

function sortedKeys(members: readonly Series[], order: SeriesOrder = 'tags'): string[] {
  const keys = new Set(members.map((s) => s.key));
  return [...keys].sort(order === 'tags' ? compareSeriesKeys : compareBytes);
}

function tagPairs(members: readonly Series[], match: TagKeyMatch) {
  const found = new Map<string, { key: string; value: string }>();
  for (const series of members) {
    for (const [key, value] of series.tags) {
      if (matchesKey(match, key)) found.set(JSON.stringify([key, value]), { key, value });
    }
  }
  return [...found.values()].sort(
    (a, b) => compareBytes(a.key, b.key) || compareBytes(a.value, b.value),
  );
}

function matchesKey(match: TagKeyMatch, key: string): boolean {
  switch (match.kind) {
    case 'in':
      return match.keys.includes(key);
    case 'not':
      return match.key !== key;
    case 'regex':
      return textMatcher(match.pattern)(key) === (match.operator === '=~');
  }
}

function shardStart(policy: Policy, time: bigint): bigint {
  return time - floorMod(time, policy.shardNanos);
}

function shardOverlaps(policy: Policy, time: bigint, range: TimeRange | undefined): boolean {
  if (range === undefined) return true;
  const start = shardStart(policy, time);
  return start <= range.end && start + policy.shardNanos > range.start;
}

function hasShardIn(policy: Policy, series: Series, range: TimeRange | undefined): boolean {
  return [...series.rows.keys()].some((time) => shardOverlaps(policy, time, range));
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

function typed(value: MemoryValue): Typed {
  switch (typeof value) {
    case 'object':
      return { type: 'unsigned', value: value.unsigned };
    case 'bigint':
      return { type: 'integer', value };
    case 'number':
      return { type: 'float', value };
    case 'string':
      return { type: 'string', value };
    default:
      return { type: 'boolean', value };
  }
}

function readField(
  row: Row,
  field: { readonly name: string; readonly type: FieldType },
): FieldValue | null {
  const found = row.fields.get(field.name);
  if (found === undefined) return null;
  const column = convertColumn(columnFrom(found.type, [found.value]), field.type);
  if (column.valid?.[0] === 0) return null;
  if (column.type === 'string') return column.dictionary[column.codes[0] ?? 0] ?? null;
  if (column.type === 'boolean') return column.values[0] === 1;
  return column.values[0] ?? null;
}

/** Whether the predicate can hold for some row of a series with these tags. */
function mayHold(predicate: Predicate, tags: ReadonlyMap<string, string>): boolean {
  switch (predicate.kind) {
    case 'and':
      return mayHold(predicate.left, tags) && mayHold(predicate.right, tags);
    case 'or':
      return mayHold(predicate.left, tags) || mayHold(predicate.right, tags);
    case 'constant':
      return predicate.value;
    case 'tag':
      return ((tags.get(predicate.key) ?? '') === predicate.value) === (predicate.operator === '=');
    case 'tag-regex':
      return (
        textMatcher(predicate.pattern)(tags.get(predicate.key) ?? '') ===
        (predicate.operator === '=~')
      );
    default:
      return true;
  }
}

function holds(predicate: Predicate, tags: ReadonlyMap<string, string>, row: Row): boolean {
  switch (predicate.kind) {
    case 'and':
      return holds(predicate.left, tags, row) && holds(predicate.right, tags, row);
    case 'or':
      return holds(predicate.left, tags, row) || holds(predicate.right, tags, row);
    case 'field': {
      const value = row.fields.get(predicate.field)?.value;
      return value !== undefined && compares(value, predicate.operator, predicate.value);
    }
    case 'field-regex': {
      const value = row.fields.get(predicate.field)?.value;
      if (typeof value !== 'string') return false;
      return textMatcher(predicate.pattern)(value) === (predicate.operator === '=~');
    }
    default:
      return mayHold(predicate, tags);
  }
}

function compares(a: FieldValue, operator: string, b: FieldValue): boolean {
  const areNumbers =
    (typeof a === 'number' || typeof a === 'bigint') &&
    (typeof b === 'number' || typeof b === 'bigint');
  if (!areNumbers && typeof a !== typeof b) return false;
  switch (operator) {
    case '=':
      // oxlint-disable-next-line eqeqeq -- a bigint and a number are compared by value
      return a == b;
    case '!=':
      // oxlint-disable-next-line eqeqeq -- a bigint and a number are compared by value
      return a != b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    default:
      return a >= b;
  }
}

type Picked = { readonly value: FieldValue; readonly time: bigint };

function aggregateColumn(
  name: AggregateFunction,
  field: { readonly name: string; readonly type: FieldType },
  windows: readonly (readonly [bigint, readonly Row[]])[],
): AggregateColumn {
  const results = windows.map(([, rows]) => {
    const points = rows.flatMap((row): Picked[] => {
      const value = readField(row, field);
      return value === null ? [] : [{ value, time: row.time }];
    });
    return points.length === 0 ? undefined : aggregateOf(name, field.type, points);
  });
  const type = name === 'count' ? 'integer' : name === 'mean' ? 'float' : field.type;
  const values = columnFrom(
    type,
    results.map((result) => result?.value ?? null),
  );
  return { values, pointTimes: BigInt64Array.from(results, (result) => result?.time ?? 0n) };
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
  const wrap = (value: bigint): bigint =>
    type === 'unsigned' ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value);
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
  const sum = wrap(integers.reduce((total, value) => total + value, 0n));
  return name === 'mean' ? Number(sum) / integers.length : sum;
}

function countsByKey(
  pairs: readonly { readonly key: string }[],
): { key: string; count: number; isExact: boolean }[] {
  const counts = new Map<string, number>();
  for (const { key } of pairs) counts.set(key, (counts.get(key) ?? 0) + 1);
  return Array.from(counts, ([key, count]) => ({ key, count, isExact: true }));
}
