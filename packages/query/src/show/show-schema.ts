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
import { seriesCondition } from './show-context.ts';
import { oneSeriesOf, rowsNeeded, seriesOf } from './show-rows.ts';
import type { RowPiece } from './show-rows.ts';
import { measurementsOf, merged, sourceFilters } from './show-sources.ts';
import type { Piece } from './show-sources.ts';

type Show<K extends ShowStatement['kind']> = Extract<ShowStatement, { kind: K }>;

/**
 * SHOW SERIES: keys of all policies, or of those that sources name; with a time condition only those of one policy's
 * shards in the range, and in the order of their bytes instead of that of their tags (recorded).
 */
export async function* showSeries(
  statement: Show<'show-series'>,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const run = new RunContext(context);
  const condition = seriesCondition(statement.condition, context);
  const hasTime = condition.timeRange !== undefined;
  const { database, sources } = statement;
  const filters = await sourceFilters(sources, { database, needsPolicy: hasTime, condition }, run);
  const order = hasTime ? 'key' : 'tags';
  const answers = filters.map((filter) => seriesKeys(filter, run, order));
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

/** SHOW TAG KEYS: keys of the series that match, per measurement. */
export async function* showTagKeys(
  statement: Show<'show-tag-keys'>,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const run = new RunContext(context);
  const condition = seriesCondition(statement.condition, context);
  const { database, sources } = statement;
  const filters = await sourceFilters(sources, { database, needsPolicy: false, condition }, run);
  const keys = merged(
    filters.map((filter) => tagKeys(filter, run)),
    compareBytes,
  );
  yield* seriesOf(keyed(keys), ['tagKey'], statement);
}

async function* tagKeys(
  filter: SchemaFilter,
  { query, pace }: RunContext,
): AsyncIterable<Piece<string>> {
  for await (const { measurement, keys } of lookUp(query, 'tag-keys', { filter }, pace)) {
    yield { measurement, entries: keys };
  }
}

async function* keyed(pieces: AsyncIterable<Piece<string>>): AsyncIterable<RowPiece> {
  for await (const { measurement, entries } of pieces) {
    yield { name: measurement, columns: [entries] };
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
  const condition = seriesCondition(statement.condition, context);
  const keys = tagKeyMatch(statement.keys);
  const limitPerMeasurement = rowsNeeded(statement);
  const { database, sources } = statement;
  const filters = await sourceFilters(sources, { database, needsPolicy: false, condition }, run);
  const answers = filters.map((filter) => tagValues({ filter, keys, limitPerMeasurement }, run));
  const [only] = answers;
  const isOne = answers.length === 1 && only !== undefined;
  const pieces = isOne ? only : mergedPairs(answers);
  yield* seriesOf(pieces, ['key', 'value'], statement);
}

/** Several answers of keys and values as one. */
async function* mergedPairs(answers: readonly AsyncIterable<RowPiece>[]): AsyncIterable<RowPiece> {
  const pairs = answers.map(async function* pairsOf(pieces): AsyncIterable<Piece<Pair>> {
    for await (const { name = '', columns } of pieces) {
      const [keys = [], values = []] = columns;
      yield { measurement: name, entries: keys.map((key, i) => [key, values[i] ?? '']) };
    }
  });
  const compare = (a: Pair, b: Pair): number =>
    compareBytes(a[0], b[0]) || compareBytes(a[1], b[1]);
  for await (const { measurement, entries } of merged(pairs, compare)) {
    const columns = [entries.map(([key]) => key), entries.map(([, value]) => value)];
    yield { name: measurement, columns };
  }
}

type Pair = readonly [key: string, value: string];

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
  const fields = await fieldsOf(statement, run);
  yield* seriesOf(nameAndType(fields), ['fieldKey', 'fieldType'], statement);
}

type TypedField = { readonly name: string; readonly type: string };

/** Fields of the sources with their types; one that has two types is there twice. */
export async function fieldsOf(
  statement: Pick<Show<'show-field-keys'>, 'database' | 'sources' | 'condition'>,
  run: RunContext,
): Promise<AsyncIterable<Piece<TypedField>>> {
  const { database, sources } = statement;
  const condition = seriesCondition(statement.condition, run.query);
  const filters = await sourceFilters(sources, { database, needsPolicy: true, condition }, run);
  const named: SchemaFilter[] = [];
  for (const filter of filters) {
    // A condition is on series, which have no fields of their own: it picks measurements.
    const { where, ...rest } = filter;
    if (where === undefined) named.push(rest);
    else named.push({ ...rest, measurements: [...(await measurementsOf([filter], run)).texts] });
  }
  return merged(
    named.map((filter) => fields(filter, run)),
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
