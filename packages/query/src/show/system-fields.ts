// `_name` and `_seriesKey`: fields that every series has, for clients that list series with SELECT
// (recorded).
import { isSubquery, measurementsIn } from '@tidemark/influxql';
import type { SelectStatement } from '@tidemark/influxql';

import { uniqueColumnNames } from '../analyse/column-names.ts';
import { resolveMeasurement } from '../analyse/resolve-source.ts';
import type { QueryContext } from '../context.ts';
import { lookUp } from '../look-up.ts';
import type { ResultBatch } from '../result.ts';
import type { SchemaFilter } from '../series-source.ts';
import { seriesCondition } from './show-context.ts';
import { seriesOf } from './show-rows.ts';
import type { RowPiece } from './show-rows.ts';
import { mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

const SYSTEM_FIELDS: ReadonlySet<string> = new Set(['_name', '_seriesKey']);

/** Whether the SELECT list has only system fields, and all sources are measurements. */
export function selectsSystemFields(statement: SelectStatement): boolean {
  return (
    statement.into === undefined &&
    statement.dimensions.length === 0 &&
    !statement.sources.some(isSubquery) &&
    statement.fields.every(
      ({ expression }) => expression.kind === 'reference' && SYSTEM_FIELDS.has(expression.name),
    )
  );
}

/** One row per series of each measurement, without a time of its own. */
export function* runSystemFields(
  statement: SelectStatement,
  context: QueryContext,
): Operator<ResultBatch> {
  const names = statement.fields.map(({ expression }) =>
    expression.kind === 'reference' ? expression.name : '',
  );
  const columns = uniqueColumnNames(
    statement.fields.map((field, i) => ({ alias: field.alias, name: names[i] ?? '' })),
  );
  const condition = seriesCondition(statement.condition, context);
  for (const source of measurementsIn(statement.sources)) {
    const { database, retentionPolicy, name, pattern } = resolveMeasurement(source, context);
    const filter = {
      database,
      retentionPolicy,
      measurements: name === undefined ? undefined : [name],
      measurementPattern: pattern,
    };
    const pieces = rowsPerSeries(names, { ...filter, ...condition }, context);
    yield* mapBatches(seriesOf(pieces, columns, statement), (batch): ResultBatch => {
      const times = new BigInt64Array(batch.rowCount);
      return {
        ...batch,
        columns: ['time', ...columns],
        values: [{ type: 'time', values: times, valid: undefined }, ...batch.values],
      };
    });
  }
}

function rowsPerSeries(
  names: readonly string[],
  filter: SchemaFilter,
  context: QueryContext,
): Operator<RowPiece> {
  return mapBatches(lookUp(context, 'series', { filter }), ({ measurement, keys }) => ({
    name: measurement,
    columns: names.map((name) => (name === '_name' ? keys.map(() => measurement) : keys)),
  }));
}
