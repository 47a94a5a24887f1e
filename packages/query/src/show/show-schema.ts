// SHOW SERIES, TAG KEYS, TAG VALUES and FIELD KEYS: look-ups that the source answers in order and without duplicates, shown
// as they come.
import { compareBytes } from '@tidemark/core';
import type { ShowStatement, TagKeyFilter } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import { lookUp } from '../look-up.ts';
import { RunContext } from '../operators/run-context.ts';
import type { ResultBatch } from '../result.ts';
import { compareSeriesKeys } from '../series-key.ts';
import type { SchemaFilter, SeriesOrder, TagKeyMatch } from '../series-source.ts';
import { existingDatabase, policyOf, seriesCondition } from './show-context.ts';
import { listed, oneSeriesOf, rowsNeeded, seriesOf } from './show-rows.ts';
import type { RowPiece } from './show-rows.ts';
import { merged, sourceFilters } from './show-sources.ts';
import type { Piece } from './show-sources.ts';

type Show<K extends ShowStatement['kind']> = Extract<ShowStatement, { kind: K }>;

/**
 * SHOW SERIES: keys of all policies; with a time condition only those of one policy's shards in the range, and in the
 * order of their bytes instead of that of their tags (recorded).
 */
export async function* showSeries(
  statement: Show<'show-series'>,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const run = new RunContext(context);
  const database = existingDatabase(statement.database, context);
  const condition = seriesCondition(statement.condition, context);
  const hasTime = condition.timeRange !== undefined;
  const filters = await sourceFilters(
    statement.sources,
    {
      database,
      policyOf: hasTime ? (source) => policyOf(source, database, context) : undefined,
    },
    run,
  );
  const order = hasTime ? 'key' : 'tags';
  const answers = filters.map((filter) => seriesKeys({ ...filter, ...condition }, run, order));
  const keys = merged(answers, hasTime ? compareBytes : compareSeriesKeys);
  yield* oneSeriesOf(unnamed(keys), ['key'], statement);
}

/** Keys of the series that a filter leaves. */
export async function* seriesKeys(
  filter: SchemaFilter,
  { query, pace }: RunContext,
  order: SeriesOrder = 'tags',
): AsyncIterable<Piece<string>> {
  for await (const { measurement, keys } of lookUp(query, 'series', { filter, order }, pace)) {
    yield { measurement, entries: keys };
  }
}

async function* unnamed(pieces: AsyncIterable<Piece<string>>): AsyncIterable<RowPiece> {
  for await (const { entries } of pieces) yield { columns: [entries] };
}

/** SHOW TAG KEYS: keys of the series that match, per measurement. The policy of a source does not matter. */
export async function* showTagKeys(
  statement: Show<'show-tag-keys'>,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const run = new RunContext(context);
  const database = existingDatabase(statement.database, context);
  const condition = seriesCondition(statement.condition, context);
  for (const filter of await sourceFilters(statement.sources, { database }, run)) {
    const pieces = tagKeys({ ...filter, ...condition }, run);
    yield* listed(seriesOf(pieces, ['tagKey'], statement));
  }
}

async function* tagKeys(
  filter: SchemaFilter,
  { query, pace }: RunContext,
): AsyncIterable<RowPiece> {
  for await (const { measurement, keys } of lookUp(query, 'tag-keys', { filter }, pace)) {
    yield { name: measurement, columns: [keys] };
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
  const run = new RunContext(context);
  const database = existingDatabase(statement.database, context);
  const condition = seriesCondition(statement.condition, context);
  const keys = tagKeyMatch(statement.keys);
  const limitPerMeasurement = rowsNeeded(statement);
  for (const filter of await sourceFilters(statement.sources, { database }, run)) {
    const asked = { filter: { ...filter, ...condition }, keys, limitPerMeasurement };
    yield* listed(seriesOf(tagValues(asked, run), ['key', 'value'], statement));
  }
}

async function* tagValues(
  asked: {
    readonly filter: SchemaFilter;
    readonly keys: TagKeyMatch;
    readonly limitPerMeasurement: number | undefined;
  },
  { query, pace }: RunContext,
): AsyncIterable<RowPiece> {
  for await (const { measurement, key, values } of lookUp(query, 'tag-values', asked, pace)) {
    yield { name: measurement, columns: [values.map(() => key), values] };
  }
}

/** SHOW FIELD KEYS: of the default policy, or of the one that a source names. */
export async function* showFieldKeys(
  statement: Show<'show-field-keys'>,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const run = new RunContext(context);
  const fields = await fieldsOf(statement, context, run);
  yield* seriesOf(nameAndType(fields), ['fieldKey', 'fieldType'], statement);
}

type TypedField = { readonly name: string; readonly type: string };

/** Fields of the sources with their types; one that has two types is there twice. */
export async function fieldsOf(
  statement: Pick<Show<'show-field-keys'>, 'database' | 'sources'>,
  context: QueryContext,
  run: RunContext,
): Promise<AsyncIterable<Piece<TypedField>>> {
  const database = existingDatabase(statement.database, context);
  const filters = await sourceFilters(
    statement.sources,
    { database, policyOf: (source) => policyOf(source, database, context) },
    run,
  );
  return merged(
    filters.map((filter) => fields(filter, run)),
    (a, b) => compareBytes(a.name, b.name) || compareBytes(a.type, b.type),
  );
}

async function* fields(
  filter: SchemaFilter,
  { query, pace }: RunContext,
): AsyncIterable<Piece<TypedField>> {
  for await (const batch of lookUp(query, 'fields', { filter }, pace)) {
    yield { measurement: batch.measurement, entries: batch.fields };
  }
}

async function* nameAndType(pieces: AsyncIterable<Piece<TypedField>>): AsyncIterable<RowPiece> {
  for await (const { measurement, entries } of pieces) {
    const columns = [entries.map(({ name }) => name), entries.map(({ type }) => type)];
    yield { name: measurement, columns };
  }
}
