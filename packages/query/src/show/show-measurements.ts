// SHOW MEASUREMENTS. Its WHERE asks about measurements, not series: `tag != 'x'` means that the measurement has the
// tag and that none of its series has this value (recorded; docs/reference/influxql.md §5).
import { compareBytes } from '@tidemark/core';
import type { ShowStatement } from '@tidemark/influxql';

import { requestOptions } from '../analyse/schema.ts';
import type { QueryContext } from '../context.ts';
import { textMatcher } from '../regex.ts';
import type { ResultBatch } from '../result.ts';
import type { Predicate, SchemaFilter } from '../series-source.ts';
import { namedDatabase, refuseTime, series, sliceRows, tagPredicate } from './show-context.ts';

type ShowMeasurements = Extract<ShowStatement, { kind: 'show-measurements' }>;

export async function* showMeasurements(
  statement: ShowMeasurements,
  context: QueryContext,
): AsyncIterable<ResultBatch> {
  refuseTime(statement.condition, 'SHOW MEASUREMENTS');
  const database = namedDatabase(statement.database, context);
  const filter: SchemaFilter = {
    database,
    measurements: statement.with?.kind === 'equal' ? [statement.with.name] : undefined,
    measurementPattern: statement.with?.kind === 'match' ? statement.with.pattern : undefined,
  };
  const where = statement.condition === undefined ? undefined : tagPredicate(statement.condition);
  if (!context.catalog.hasDatabase(database)) return;
  let names = await measurementNames(filter, context);
  if (where !== undefined) {
    const chosen = await measurementsWhere(where, filter, context);
    names = names.filter((name) => chosen.has(name));
  }
  const rows = sliceRows(names, statement).map((name) => [name]);
  yield* series('measurements', ['name'], rows);
}

async function measurementNames(
  filter: SchemaFilter,
  context: QueryContext,
): Promise<readonly string[]> {
  const names: string[] = [];
  const request = { kind: 'measurements', filter } as const;
  for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
    if (batch.kind === 'measurements') names.push(...batch.names);
  }
  return names.sort(compareBytes);
}

/** Measurements for which the condition holds. */
async function measurementsWhere(
  where: Predicate,
  filter: SchemaFilter,
  context: QueryContext,
): Promise<ReadonlySet<string>> {
  switch (where.kind) {
    case 'and':
    case 'or': {
      const left = await measurementsWhere(where.left, filter, context);
      const right = await measurementsWhere(where.right, filter, context);
      if (where.kind === 'or') return new Set([...left, ...right]);
      return new Set([...left].filter((name) => right.has(name)));
    }
    case 'constant':
      return new Set(where.value ? await measurementNames(filter, context) : []);
    case 'tag':
      return byTagValues(where.key, filter, context, {
        matches: (value) => value === where.value,
        wantsMatch: where.operator === '=',
      });
    case 'tag-regex':
      return byTagValues(where.key, filter, context, {
        matches: textMatcher(where.pattern),
        wantsMatch: where.operator === '=~',
      });
    default:
      return new Set();
  }
}

async function byTagValues(
  key: string,
  filter: SchemaFilter,
  context: QueryContext,
  test: { readonly matches: (value: string) => boolean; readonly wantsMatch: boolean },
): Promise<ReadonlySet<string>> {
  const isMatched = new Map<string, boolean>();
  const request = { kind: 'tag-values', filter, keys: { kind: 'in', keys: [key] } } as const;
  for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
    if (batch.kind !== 'tag-values') continue;
    const found = batch.pairs.some(({ value }) => test.matches(value));
    const known = isMatched.get(batch.measurement) ?? false;
    isMatched.set(batch.measurement, known || found);
  }
  return new Set(
    [...isMatched].filter(([, matched]) => matched === test.wantsMatch).map(([name]) => name),
  );
}
