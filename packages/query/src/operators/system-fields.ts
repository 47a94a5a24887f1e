// `_name` and `_seriesKey`: fields that every series has, for clients that list series with SELECT (recorded).
import type { SelectStatement } from '@tidemark/influxql';

import { uniqueColumnNames } from '../analyse/column-names.ts';
import { resolveMeasurement } from '../analyse/resolve-source.ts';
import { requestOptions } from '../analyse/schema.ts';
import type { QueryContext } from '../context.ts';
import type { ResultBatch } from '../result.ts';
import { seriesCondition, sliceRows } from '../show/show-context.ts';

const SYSTEM_FIELDS: ReadonlySet<string> = new Set(['_name', '_seriesKey']);

/** Whether the SELECT list names nothing but system fields, of measurements. */
export function selectsSystemFields(statement: SelectStatement): boolean {
  return (
    statement.into === undefined &&
    statement.dimensions.length === 0 &&
    statement.sources.every((source) => source.kind === 'measurement') &&
    statement.fields.every(
      ({ expression }) => expression.kind === 'reference' && SYSTEM_FIELDS.has(expression.name),
    )
  );
}

/** One row per series of each measurement, without a time of its own. */
export async function* runSystemFields(
  statement: SelectStatement,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  const names = statement.fields.map(({ expression }) =>
    expression.kind === 'reference' ? expression.name : '',
  );
  const columns = uniqueColumnNames(
    statement.fields.map((field, i) => ({ alias: field.alias, name: names[i] ?? '' })),
  );
  const condition = seriesCondition(statement.condition, context);
  for (const source of statement.sources) {
    if (source.kind !== 'measurement') continue;
    const { database, retentionPolicy, name, pattern } = resolveMeasurement(source, context);
    const filter = {
      database,
      retentionPolicy,
      measurements: name === undefined ? undefined : [name],
      measurementPattern: pattern,
    };
    const options = requestOptions(context);
    const request = { kind: 'measurements', filter } as const;
    for await (const batch of context.snapshot.schema(request, options)) {
      if (batch.kind !== 'measurements') continue;
      for (const measurement of batch.names) {
        const keys = await seriesKeys(context, {
          ...filter,
          ...condition,
          measurements: [measurement],
          measurementPattern: undefined,
        });
        const rows = sliceRows(keys, statement);
        if (rows.length === 0) continue;
        yield {
          name: measurement,
          columns: ['time', ...columns],
          rowCount: rows.length,
          values: [
            { type: 'time', values: new BigInt64Array(rows.length), valid: undefined },
            ...names.map((field) => ({
              type: 'mixed' as const,
              values: rows.map((key) => (field === '_name' ? measurement : key)),
            })),
          ],
          isContinuation: false,
        };
      }
    }
  }
}

async function seriesKeys(
  context: QueryContext,
  filter: Parameters<QueryContext['snapshot']['schema']>[0]['filter'],
): Promise<readonly string[]> {
  const keys: string[] = [];
  const request = { kind: 'series', filter } as const;
  for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
    if (batch.kind === 'series') for (const key of batch.keys) keys.push(key);
  }
  return keys;
}
