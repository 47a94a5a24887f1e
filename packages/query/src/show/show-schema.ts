// SHOW SERIES, TAG KEYS, TAG VALUES and FIELD KEYS: look-ups that the source answers in order and
// without duplicates, streamed as they arrive.
import { compareBytes } from '@tidemark/core';
import { isTime, some } from '@tidemark/influxql';
import type { ShowStatement, TagKeyFilter } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import { lookUp } from '../look-up.ts';
import { ExecutionContext } from '../execution/execution-context.ts';
import type { ResultBatch } from '../result.ts';
import { compareSeriesKeys } from '../series-key.ts';
import type { SchemaBatch, SchemaFilter, SeriesOrder, TagKeyMatch } from '../series-source.ts';
import { seriesCondition } from './show-context.ts';
import { oneSeriesOf, rowsNeeded, seriesOf } from './show-rows.ts';
import type { RowPiece } from './show-rows.ts';
import { measurementsOf, merged, sourceFilters } from './show-sources.ts';
import type { Piece } from './show-sources.ts';
import { mapBatches } from '../operator.ts';
import type { Operator, Steps } from '../operator.ts';

type Show<K extends ShowStatement['kind']> = Extract<ShowStatement, { kind: K }>;

/**
 * SHOW SERIES: keys of all policies, or of those that sources name. With a time condition: only
 * those of one policy's shards in the range, in the order of their bytes instead of that of their
 * tags (recorded), and a comparison of a tag with a number never holds.
 */
export function* showSeries(
  statement: Show<'show-series'>,
  context: QueryContext,
): Operator<ResultBatch> {
  const execution = new ExecutionContext(context);
  const isByTime = statement.condition !== undefined && some(statement.condition, isTime);
  const condition = seriesCondition(statement.condition, context, !isByTime);
  const hasTime = condition.timeRange !== undefined;
  const options = { needsPolicy: hasTime, checksPolicy: true, condition };
  const filters = yield* sourceFilters(statement, options, execution);
  const order = hasTime ? 'key' : 'tags';
  const answers = filters.map((filter) => seriesKeys(filter, execution, order));
  const keys = merged(answers, hasTime ? compareBytes : compareSeriesKeys);
  const unnamed = mapBatches(keys, ({ entries }) => ({ columns: [entries] }));
  yield* oneSeriesOf(unnamed, ['key'], statement);
}

/** Keys of the series that match a filter. */
export function seriesKeys(
  filter: SchemaFilter,
  { query }: ExecutionContext,
  order: SeriesOrder = 'tags',
): Operator<Piece<string>> {
  return mapBatches(lookUp(query, 'series', { filter, order }), piece);
}

/** The keys of a batch, as the entries of its measurement. */
function piece({ measurement, keys }: SchemaBatch & { readonly kind: 'series' | 'tag-keys' }) {
  return { measurement, entries: keys };
}

/** SHOW TAG KEYS: keys of the series that match, per measurement. */
export function* showTagKeys(
  statement: Show<'show-tag-keys'>,
  context: QueryContext,
): Operator<ResultBatch> {
  const execution = new ExecutionContext(context);
  const filters = yield* sourceFilters(statement, { needsPolicy: false }, execution);
  const keys = merged(
    filters.map((filter) => mapBatches(lookUp(context, 'tag-keys', { filter }), piece)),
    compareBytes,
  );
  const named = mapBatches(keys, ({ measurement, entries }) => ({
    name: measurement,
    columns: [entries],
  }));
  yield* seriesOf(named, ['tagKey'], statement);
}

/** The selection of WITH KEY. */
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
export function* showTagValues(
  statement: Show<'show-tag-values'>,
  context: QueryContext,
): Operator<ResultBatch> {
  const execution = new ExecutionContext(context);
  const keys = tagKeyMatch(statement.keys);
  const limitPerMeasurement = rowsNeeded(statement);
  const filters = yield* sourceFilters(statement, { needsPolicy: false }, execution);
  const answers = filters.map((filter) =>
    tagValues({ filter, keys, limitPerMeasurement }, execution),
  );
  const [only] = answers;
  const isOne = answers.length === 1 && only !== undefined;
  const pieces = isOne ? only : mergedPairs(answers);
  yield* seriesOf(pieces, ['key', 'value'], statement);
}

/** Several answers of keys and values as one. */
function mergedPairs(answers: readonly Operator<RowPiece>[]): Operator<RowPiece> {
  const pairs = answers.map((pieces) =>
    mapBatches(pieces, ({ name = '', columns }): Piece<Pair> => {
      const [keys = [], values = []] = columns;
      return { measurement: name, entries: keys.map((key, i) => [key, values[i] ?? '']) };
    }),
  );
  const compare = (a: Pair, b: Pair): number =>
    compareBytes(a[0], b[0]) || compareBytes(a[1], b[1]);
  return mapBatches(merged(pairs, compare), ({ measurement, entries }) => ({
    name: measurement,
    columns: [entries.map(([key]) => key), entries.map(([, value]) => value)],
  }));
}

type Pair = readonly [key: string, value: string];

function tagValues(
  asked: {
    readonly filter: SchemaFilter;
    readonly keys: TagKeyMatch;
    readonly limitPerMeasurement: number | undefined;
  },
  { query }: ExecutionContext,
): Operator<RowPiece> {
  return mapBatches(lookUp(query, 'tag-values', asked), ({ measurement, key, values }) => ({
    name: measurement,
    columns: [values.map(() => key), values],
  }));
}

/** SHOW FIELD KEYS: of the default policy, or of the one that a source names. */
export function* showFieldKeys(
  statement: Show<'show-field-keys'>,
  context: QueryContext,
): Operator<ResultBatch> {
  const execution = new ExecutionContext(context);
  const filters = yield* sourceFilters(statement, { needsPolicy: true }, execution);
  const fields = yield* fieldsOf(filters, execution);
  const named = mapBatches(fields, ({ measurement, entries }) => ({
    name: measurement,
    columns: [entries.map(({ name }) => name), entries.map(({ type }) => type)],
  }));
  yield* seriesOf(named, ['fieldKey', 'fieldType'], statement);
}

export type TypedField = { readonly name: string; readonly type: string };

/** Fields of the filters' measurements with their types; a field of two types occurs twice. */
export function* fieldsOf(
  filters: readonly SchemaFilter[],
  execution: ExecutionContext,
): Steps<Operator<Piece<TypedField>>> {
  const named: SchemaFilter[] = [];
  for (const filter of filters) {
    // A condition is on series, which have no fields of their own: it selects measurements.
    const { where, ...rest } = filter;
    if (where === undefined) named.push(rest);
    else
      named.push({
        ...rest,
        measurements: [...(yield* measurementsOf([filter], execution)).texts],
      });
  }
  return merged(
    named.map((filter) =>
      mapBatches(lookUp(execution.query, 'fields', { filter }), ({ measurement, fields }) => ({
        measurement,
        entries: fields,
      })),
    ),
    (a, b) => compareBytes(a.name, b.name) || compareBytes(a.type, b.type),
  );
}
