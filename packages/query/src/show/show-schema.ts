// SHOW SERIES, TAG KEYS, TAG VALUES and FIELD KEYS: look-ups that the source answers, limited per measurement.
import { compareBytes } from '@tidemark/core';
import type { MeasurementSource, ShowStatement, TagKeyFilter } from '@tidemark/influxql';

import { requestOptions } from '../analyse/schema.ts';
import type { QueryContext } from '../context.ts';
import type { ResultBatch } from '../result.ts';
import { rowsBatch } from '../result.ts';
import type { SchemaFilter, TagKeyMatch } from '../series-source.ts';
import type { SeriesCondition } from './show-context.ts';
import {
  existingDatabase,
  measurementFilters,
  policyOf,
  seriesCondition,
  series,
  sliceRows,
} from './show-context.ts';

type Show<K extends ShowStatement['kind']> = Extract<ShowStatement, { kind: K }>;

/** Rows of one result batch: answers about a million series are streamed. */
const ROWS_PER_BATCH = 10_000;

/** SHOW SERIES: keys of all policies; with a time condition only those of one policy's shards in the range. */
export async function* showSeries(
  statement: Show<'show-series'>,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const database = existingDatabase(statement.database, context);
  const condition = seriesCondition(statement.condition, context);
  const offset = Number(statement.offset ?? 0n);
  const limit = Number(statement.limit ?? 0n);
  let toSkip = offset;
  let left = limit === 0 ? Infinity : limit;
  let isContinuation = false;
  for await (const keys of seriesKeys(database, statement.sources, condition, context)) {
    const from = Math.min(toSkip, keys.length);
    toSkip -= from;
    const rows = keys.slice(from, from + left).map((key) => [key]);
    left -= rows.length;
    if (rows.length === 0) continue;
    yield { ...rowsBatch({ columns: ['key'], rows }), isContinuation };
    isContinuation = true;
    if (left <= 0) return;
  }
}

/** Sorted keys in pieces. Several sources overlap, so their keys are gathered first. */
async function* seriesKeys(
  database: string,
  sources: readonly MeasurementSource[],
  condition: SeriesCondition,
  context: QueryContext,
): AsyncIterable<readonly string[]> {
  const filters = measurementFilters(sources).map(({ source, ...names }): SchemaFilter => ({
    database,
    retentionPolicy:
      condition.timeRange === undefined ? undefined : policyOf(source, database, context),
    ...names,
    ...condition,
  }));
  const gathered = new Set<string>();
  for (const filter of filters) {
    const request = { kind: 'series', filter } as const;
    for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
      if (batch.kind !== 'series') continue;
      if (filters.length === 1) yield batch.keys;
      else for (const key of batch.keys) gathered.add(key);
    }
  }
  if (filters.length > 1) yield [...gathered].sort(compareBytes);
}

/** SHOW TAG KEYS: keys of the series that match, per measurement. The policy of a source does not matter. */
export async function* showTagKeys(
  statement: Show<'show-tag-keys'>,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const database = existingDatabase(statement.database, context);
  const condition = seriesCondition(statement.condition, context);
  const keys = new Map<string, Set<string>>();
  for (const { measurements, measurementPattern } of measurementFilters(statement.sources)) {
    const filter: SchemaFilter = { database, measurements, measurementPattern, ...condition };
    const request = { kind: 'tag-keys', filter } as const;
    for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
      if (batch.kind === 'tag-keys') addAll(keys, batch.measurement, batch.keys);
    }
  }
  for (const [measurement, found] of sortedEntries(keys)) {
    const rows = sliceRows([...found].sort(compareBytes), statement).map((key) => [key]);
    yield* series(measurement, ['tagKey'], rows);
  }
}

/** What WITH KEY asks for. */
export function tagKeyMatch(filter: TagKeyFilter): TagKeyMatch {
  switch (filter.kind) {
    case 'in':
      return { kind: 'in', keys: filter.keys };
    case 'equal':
      return { kind: 'in', keys: [filter.key] };
    case 'not-equal':
      return { kind: 'not', key: filter.key };
    case 'match':
      return { kind: 'regex', operator: '=~', pattern: filter.pattern };
    case 'not-match':
      return { kind: 'regex', operator: '!~', pattern: filter.pattern };
  }
}

/** SHOW TAG VALUES: values of the series that match, per measurement, sorted by key and value. */
export async function* showTagValues(
  statement: Show<'show-tag-values'>,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const database = existingDatabase(statement.database, context);
  const condition = seriesCondition(statement.condition, context);
  const keys = tagKeyMatch(statement.keys);
  const filters = measurementFilters(statement.sources).map(
    ({ measurements, measurementPattern }): SchemaFilter => ({
      database,
      measurements,
      measurementPattern,
      ...condition,
    }),
  );
  // Sources may name a measurement twice; what was shown once is not shown again.
  const pairs = new Map<string, Map<string, readonly [string, string]>>();
  for (const filter of filters) {
    const request = { kind: 'tag-values', filter, keys } as const;
    for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
      if (batch.kind !== 'tag-values') continue;
      let known = pairs.get(batch.measurement);
      if (known === undefined) pairs.set(batch.measurement, (known = new Map()));
      for (const { key, value } of batch.pairs) known.set(`${key}\u0000${value}`, [key, value]);
    }
  }
  for (const [measurement, found] of sortedEntries(pairs)) {
    const sorted = [...found.values()].sort(
      (a, b) => compareBytes(a[0], b[0]) || compareBytes(a[1], b[1]),
    );
    yield* inBatches(measurement, ['key', 'value'], sliceRows(sorted, statement));
  }
}

function* inBatches(
  name: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): Iterable<ResultBatch> {
  for (let at = 0; at < rows.length; at += ROWS_PER_BATCH) {
    const part = rows.slice(at, at + ROWS_PER_BATCH);
    yield { ...rowsBatch({ name, columns, rows: part }), isContinuation: at > 0 };
  }
}

/** SHOW FIELD KEYS: of the default policy, or of the one that a source names. */
export async function* showFieldKeys(
  statement: Show<'show-field-keys'>,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const database = existingDatabase(statement.database, context);
  const fields = new Map<string, Set<string>>();
  for (const { source, measurements, measurementPattern } of measurementFilters(
    statement.sources,
  )) {
    const retentionPolicy = policyOf(source, database, context);
    const filter: SchemaFilter = { database, retentionPolicy, measurements, measurementPattern };
    const request = { kind: 'fields', filter } as const;
    for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
      if (batch.kind !== 'fields') continue;
      const rows = batch.fields.map(({ name, type }) => JSON.stringify([name, type]));
      addAll(fields, batch.measurement, rows);
    }
  }
  for (const [measurement, found] of sortedEntries(fields)) {
    const rows = [...found]
      .map((row): [string, string] => JSON.parse(row))
      .sort((a, b) => compareBytes(a[0], b[0]) || compareBytes(a[1], b[1]));
    yield* series(measurement, ['fieldKey', 'fieldType'], sliceRows(rows, statement));
  }
}

function addAll(
  map: Map<string, Set<string>>,
  measurement: string,
  values: readonly string[],
): void {
  let known = map.get(measurement);
  if (known === undefined) map.set(measurement, (known = new Set()));
  for (const value of values) known.add(value);
}

function sortedEntries<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => compareBytes(a, b));
}
