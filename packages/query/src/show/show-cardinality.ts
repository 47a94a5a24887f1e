// SHOW … CARDINALITY: estimates for a whole database, exact counts per measurement otherwise.
import { compareBytes } from '@tidemark/core';
import type { Expression, ShowStatement } from '@tidemark/influxql';

import { readDimensions } from '../analyse/dimensions.ts';
import { requestOptions } from '../analyse/schema.ts';
import type { QueryContext } from '../context.ts';
import { tagsOfSeriesKey } from '../operators/series-limit.ts';
import { textMatcher } from '../regex.ts';
import type { ResultBatch } from '../result.ts';
import { rowsBatch } from '../result.ts';
import type { SchemaFilter, TagKeyMatch } from '../series-source.ts';
import {
  existingDatabase,
  measurementFilters,
  namedDatabase,
  policyOf,
  refuseTime,
  seriesCondition,
  sliceRows,
} from './show-context.ts';
import { tagKeyMatch } from './show-schema.ts';

type ShowCardinality = Extract<ShowStatement, { kind: 'show-cardinality' }>;

const NAMES: Readonly<Record<ShowCardinality['of'], string>> = {
  series: 'SERIES',
  measurement: 'MEASUREMENT',
  'tag-key': 'TAG KEY',
  'field-key': 'FIELD KEY',
  'tag-values': 'TAG VALUES',
};

export async function* showCardinality(
  statement: ShowCardinality,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const exact = statement.of === 'field-key' ? '' : 'EXACT ';
  refuseTime(statement.condition, `SHOW ${NAMES[statement.of]} ${exact}CARDINALITY`);
  if (isEstimate(statement)) {
    yield await estimate(statement, context);
    return;
  }
  const database = existingDatabase(statement.database, context);
  if (statement.of === 'field-key') yield* countFieldKeys(statement, database, context);
  else yield* countSeriesParts(statement, database, context);
}

function isEstimate(statement: ShowCardinality): boolean {
  return (
    (statement.of === 'series' || statement.of === 'measurement') &&
    !statement.isExact &&
    statement.sources.length === 0 &&
    statement.condition === undefined &&
    statement.dimensions.length === 0 &&
    (statement.limit ?? 0n) === 0n &&
    (statement.offset ?? 0n) === 0n
  );
}

async function estimate(statement: ShowCardinality, context: QueryContext): Promise<ResultBatch> {
  const database = namedDatabase(statement.database, context);
  let count = 0;
  if (context.catalog.hasDatabase(database)) {
    const of = statement.of === 'series' ? 'series' : 'measurements';
    const request = { kind: 'cardinality', filter: { database }, of } as const;
    for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
      if (batch.kind === 'cardinality') count += batch.count;
    }
  }
  return rowsBatch({ columns: ['cardinality estimation'], rows: [[BigInt(count)]] });
}

async function* countFieldKeys(
  statement: ShowCardinality,
  database: string,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const names = new Map<string, Set<string>>();
  for (const { source, ...filter } of measurementFilters(statement.sources)) {
    const retentionPolicy = policyOf(source, database, context);
    const request = {
      kind: 'fields',
      filter: { database, retentionPolicy, ...filter },
    } as const;
    for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
      if (batch.kind !== 'fields') continue;
      const known = names.get(batch.measurement) ?? new Set<string>();
      names.set(batch.measurement, known);
      for (const field of batch.fields) known.add(field.name);
    }
  }
  for (const [name, fields] of [...names].sort(([a], [b]) => compareBytes(a, b))) {
    yield* countSeries(statement, { name, tags: undefined, count: fields.size });
  }
}

type Counted = {
  readonly name: string | undefined;
  readonly tags: ReadonlyMap<string, string> | undefined;
  readonly count: number;
};

/** LIMIT and OFFSET count the one row of each series, as recorded. */
function* countSeries(statement: ShowCardinality, counted: Counted): Iterable<ResultBatch> {
  const rows = sliceRows([[BigInt(counted.count)]], statement);
  if (rows.length === 0) return;
  yield rowsBatch({ name: counted.name, tags: counted.tags, columns: ['count'], rows });
}

type Group = {
  readonly name: string;
  readonly tags: readonly string[];
  readonly members: Set<string>;
};

/** Counts series, tag keys, tag values or measurements over the keys of matching series. */
async function* countSeriesParts(
  statement: ShowCardinality,
  database: string,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const { where, timeRange } = seriesCondition(statement.condition, context);
  const counted = await countedTagValues(statement, database, context);
  if (counted !== undefined) {
    for (const { name, count } of counted) {
      yield* countSeries(statement, { name, tags: undefined, count });
    }
    return;
  }
  const groups = new Map<string, Group>();
  const measurements = new Set<string>();
  const parts = partsOf(statement);
  const dimensions = await groupTags(statement.dimensions, database, context);
  for (const { source, ...filter } of measurementFilters(statement.sources)) {
    const retentionPolicy = policyOf(source, database, context);
    const base: SchemaFilter = { database, retentionPolicy, ...filter, where, timeRange };
    for (const name of await measurementsOf(base, context)) {
      measurements.add(name);
      if (statement.of === 'measurement') continue;
      const request = {
        kind: 'series',
        filter: { ...base, measurements: [name], measurementPattern: undefined },
      } as const;
      for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
        if (batch.kind !== 'series') continue;
        for (const key of batch.keys) {
          const tags = tagsOfSeriesKey(key);
          const values = dimensions.map((tag) => tags.get(tag) ?? '');
          const id = JSON.stringify([name, ...values]);
          let group = groups.get(id);
          if (group === undefined) {
            groups.set(id, (group = { name, tags: values, members: new Set() }));
          }
          for (const part of parts(key, tags)) group.members.add(part);
        }
      }
    }
  }
  if (statement.of === 'measurement') {
    if (measurements.size > 0) {
      yield* countSeries(statement, { name: undefined, tags: undefined, count: measurements.size });
    }
    return;
  }
  for (const { name, tags, members } of [...groups.values()].sort(compareGroups)) {
    if (members.size === 0) continue;
    const shown =
      dimensions.length === 0
        ? undefined
        : new Map(dimensions.map((tag, i) => [tag, tags[i] ?? '']));
    yield* countSeries(statement, { name, tags: shown, count: members.size });
  }
}

/**
 * Numbers of values of one tag key as storage keeps them, by measurement; `undefined` when it only estimates one of them
 * or the statement asks for something else.
 */
async function countedTagValues(
  statement: ShowCardinality,
  database: string,
  context: QueryContext,
): Promise<readonly { readonly name: string; readonly count: number }[] | undefined> {
  const isPlain = statement.condition === undefined && statement.dimensions.length === 0;
  if (statement.of !== 'tag-values' || statement.keys === undefined || !isPlain) return undefined;
  const keys = tagKeyMatch(statement.keys);
  // Keys may have values in common, which count once.
  if (keys.kind !== 'in' || keys.keys.length !== 1) return undefined;
  const filters = [...measurementFilters(statement.sources)];
  const [only] = filters;
  if (only === undefined || filters.length > 1) return undefined;
  const { source, ...filter } = only;
  const retentionPolicy = policyOf(source, database, context);
  const request = {
    kind: 'tag-cardinality',
    filter: { database, retentionPolicy, ...filter },
    keys,
  } as const;
  const counts: { name: string; count: number }[] = [];
  for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
    if (batch.kind !== 'tag-cardinality') continue;
    for (const { count, isExact } of batch.keys) {
      if (!isExact) return undefined;
      counts.push({ name: batch.measurement, count });
    }
  }
  return counts;
}

function compareGroups(a: Group, b: Group): number {
  let order = compareBytes(a.name, b.name);
  for (let i = 0; order === 0 && i < a.tags.length; i++) {
    order = compareBytes(a.tags[i] ?? '', b.tags[i] ?? '');
  }
  return order;
}

/** What is counted of a series. */
function partsOf(
  statement: ShowCardinality,
): (key: string, tags: ReadonlyMap<string, string>) => Iterable<string> {
  switch (statement.of) {
    case 'tag-key':
      return (_key, tags) => tags.keys();
    case 'tag-values': {
      const match: TagKeyMatch =
        statement.keys === undefined ? { kind: 'in', keys: [] } : tagKeyMatch(statement.keys);
      const isWanted = keyTest(match);
      return (_key, tags) => [...tags].filter(([key]) => isWanted(key)).map(([, value]) => value);
    }
    default:
      return (key) => [key];
  }
}

function keyTest(match: TagKeyMatch): (key: string) => boolean {
  switch (match.kind) {
    case 'in':
      return (key) => match.keys.includes(key);
    case 'not':
      return (key) => key !== match.key;
    case 'regex': {
      const matches = textMatcher(match.pattern);
      return (key) => matches(key) === (match.operator === '=~');
    }
  }
}

async function measurementsOf(
  filter: SchemaFilter,
  context: QueryContext,
): Promise<readonly string[]> {
  const names: string[] = [];
  const request = { kind: 'measurements', filter } as const;
  for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
    if (batch.kind === 'measurements') names.push(...batch.names);
  }
  return names;
}

async function groupTags(
  written: readonly Expression[],
  database: string,
  context: QueryContext,
): Promise<readonly string[]> {
  const { tags } = readDimensions(written, context.now);
  const names = new Set<string>();
  for (const dimension of tags) {
    if (dimension.kind === 'tag') {
      names.add(dimension.name);
      continue;
    }
    const matches = dimension.kind === 'regex' ? textMatcher(dimension.pattern) : () => true;
    const request = { kind: 'tag-keys', filter: { database } } as const;
    for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
      if (batch.kind !== 'tag-keys') continue;
      for (const key of batch.keys) if (matches(key)) names.add(key);
    }
  }
  return [...names].sort(compareBytes);
}
