// SHOW … CARDINALITY: estimates for a whole database, exact counts per measurement otherwise.
import { compareBytes } from '@tidemark/core';
import type { Expression, ShowStatement } from '@tidemark/influxql';

import { dimensionTest, readDimensions } from '../analyse/dimensions.ts';
import type { QueryContext } from '../context.ts';
import { lookUp } from '../look-up.ts';
import { ExecutionContext } from '../execution/execution-context.ts';
import type { ResultBatch } from '../result.ts';
import { rowsBatch } from '../result.ts';
import type { SchemaBatch, SchemaFilter, TagKeyMatch } from '../series-source.ts';
import { countInGroups, fieldKeysInGroups } from './count-in-groups.ts';
import type { Counted } from './count-in-groups.ts';
import { Members } from './members.ts';
import { namedDatabase, refuseTime, seriesCondition } from './show-context.ts';
import { fieldsOf, tagKeyMatch } from './show-schema.ts';
import type { TypedField } from './show-schema.ts';
import { measurementsOf, sourceFilters } from './show-sources.ts';
import type { Piece } from './show-sources.ts';
import { forEachBatch, mapBatches } from '../operator.ts';
import type { Operator, Steps } from '../operator.ts';

type ShowCardinality = Extract<ShowStatement, { kind: 'show-cardinality' }>;

export function* showCardinality(
  statement: ShowCardinality,
  context: QueryContext,
): Operator<ResultBatch> {
  const exact = statement.of === 'field-key' ? '' : 'EXACT ';
  const words = statement.of.replace('-', ' ').toUpperCase();
  refuseTime(statement.condition, `SHOW ${words} ${exact}CARDINALITY`);
  if (isEstimate(statement)) {
    yield yield* estimate(statement, context);
    return;
  }
  // LIMIT and OFFSET count the one row of each series, as recorded.
  const isShown = (statement.offset ?? 0n) === 0n;
  yield* mapBatches(counted(statement, new ExecutionContext(context)), ({ name, tags, count }) =>
    isShown ? rowsBatch({ name, tags, columns: ['count'], rows: [[BigInt(count)]] }) : undefined,
  );
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

function* estimate(statement: ShowCardinality, context: QueryContext): Steps<ResultBatch> {
  const database = namedDatabase(statement.database, context);
  let count = 0;
  if (context.catalog.hasDatabase(database)) {
    const of = statement.of === 'series' ? 'series' : 'measurements';
    const asked = { filter: { database }, of } as const;
    yield* forEachBatch(lookUp(context, 'cardinality', asked), (batch) => {
      count += batch.count;
    });
  }
  return rowsBatch({ columns: ['cardinality estimation'], rows: [[BigInt(count)]] });
}

function* counted(statement: ShowCardinality, execution: ExecutionContext): Operator<Counted> {
  const condition = seriesCondition(statement.condition, execution.query, false);
  const filters = yield* sourceFilters(statement, { needsPolicy: true, condition }, execution);
  const dimensions = yield* groupTags(statement.dimensions, filters, execution.query);
  if (statement.of === 'field-key') {
    const fields = countFieldKeys(yield* fieldsOf(filters, execution));
    if (dimensions.length === 0) yield* fields;
    else yield* fieldKeysInGroups(fields, { filters, dimensions }, execution);
    return;
  }
  if (statement.of === 'measurement' && dimensions.length === 0) {
    const { size } = yield* measurementsOf(filters, execution);
    if (size > 0) yield { count: size };
    return;
  }
  const [only] = filters;
  const isOne = only !== undefined && filters.length === 1 && dimensions.length === 0;
  if (isOne) yield* countPerMeasurement(statement, only, execution);
  else
    yield* countInGroups(
      { of: statement.of, keys: tagKeysOf(statement), filters, dimensions },
      execution,
    );
}

/** The number of fields of each measurement that has any. */
function countFieldKeys(pieces: Operator<Piece<TypedField>>): Operator<Counted> {
  let name: string | undefined;
  let field: string | undefined;
  const counts = mapBatches(pieces, ({ measurement, entries }) => {
    if (measurement !== name) field = undefined;
    name = measurement;
    let count = 0;
    // A field of two types occurs twice, and counts once.
    for (const entry of entries) {
      if (entry.name !== field) count++;
      field = entry.name;
    }
    return { name: measurement, count };
  });
  return sums(counts);
}

/** Counts of each measurement, if storage returns its parts once and in order. */
function countPerMeasurement(
  statement: ShowCardinality,
  filter: SchemaFilter,
  execution: ExecutionContext,
): Operator<Counted> {
  const { query } = execution;
  switch (statement.of) {
    case 'series':
      return mapBatches(
        lookUp(query, 'series-cardinality', { filter }),
        ({ measurement, count }) => ({ name: measurement, count }),
      );
    case 'tag-key':
      return sums(
        mapBatches(lookUp(query, 'tag-keys', { filter }), ({ measurement, keys }) => ({
          name: measurement,
          count: keys.length,
        })),
      );
    default:
      return countTagValues(tagKeysOf(statement), filter, execution);
  }
}

function* countTagValues(
  keys: TagKeyMatch,
  filter: SchemaFilter,
  execution: ExecutionContext,
): Operator<Counted> {
  const exactCounts = yield* exactTagValueCounts(keys, filter, execution);
  if (exactCounts !== undefined) {
    yield* exactCounts;
    return;
  }
  // Keys may have values in common, which count once.
  const isOneKey = keys.kind === 'in' && keys.keys.length === 1;
  let members: Members | undefined;
  let last: string | undefined;
  const found = lookUp(execution.query, 'tag-values', { filter, keys });
  const counts = mapBatches(found, ({ measurement: name, values }) => {
    if (isOneKey) return { name, count: values.length };
    if (members === undefined || name !== last) {
      members?.release();
      members = new Members(execution);
      last = name;
    }
    const before = members.size;
    for (const value of values) members.add(value);
    return { name, count: members.size - before };
  });
  yield* sums(counts);
}

/**
 * Numbers of values of one tag key from storage, by measurement; `undefined` if one of them is only
 * an estimate or the statement needs something else.
 */
function* exactTagValueCounts(
  keys: TagKeyMatch,
  filter: SchemaFilter,
  { query }: ExecutionContext,
): Steps<readonly Counted[] | undefined> {
  const isPlain = filter.where === undefined && filter.timeRange === undefined;
  if (!isPlain || keys.kind !== 'in' || keys.keys.length !== 1) return undefined;
  const counts: Counted[] = [];
  let areExact = true as boolean;
  const take = (batch: SchemaBatch & { readonly kind: 'tag-cardinality' }): void => {
    for (const { count, isExact } of batch.keys) {
      areExact &&= isExact;
      counts.push({ name: batch.measurement, count });
    }
  };
  yield* forEachBatch(lookUp(query, 'tag-cardinality', { filter, keys }), take, () => !areExact);
  return areExact ? counts : undefined;
}

/** Sums of consecutive counts of one name. */
function* sums(
  counts: Operator<{ readonly name: string; readonly count: number }>,
): Operator<Counted> {
  let open = undefined as { readonly name: string; count: number } | undefined;
  yield* mapBatches(counts, ({ name, count }) => {
    if (open?.name === name) {
      open.count += count;
      return undefined;
    }
    const done = open;
    open = { name, count };
    return done;
  });
  if (open !== undefined) yield open;
}

function* groupTags(
  written: readonly Expression[],
  filters: readonly SchemaFilter[],
  context: QueryContext,
): Steps<readonly string[]> {
  const { tags } = readDimensions(written, context.now);
  const names = new Set<string>();
  for (const dimension of tags) {
    if (dimension.kind === 'tag') {
      names.add(dimension.name);
      continue;
    }
    const matches = dimensionTest(dimension);
    for (const database of new Set(filters.map((filter) => filter.database))) {
      yield* forEachBatch(lookUp(context, 'tag-keys', { filter: { database } }), ({ keys }) => {
        for (const key of keys) if (matches(key)) names.add(key);
      });
    }
  }
  return [...names].sort(compareBytes);
}

function tagKeysOf({ keys }: ShowCardinality): TagKeyMatch {
  return keys === undefined ? { kind: 'in', keys: [] } : tagKeyMatch(keys);
}
