// SHOW MEASUREMENTS. Its WHERE asks about measurements, not series: `tag != 'x'` means that the measurement has the
// tag and that none of its series has this value (recorded; docs/reference/influxql.md §5).
import type { ShowStatement } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import { lookUp } from '../look-up.ts';
import { RunContext } from '../operators/run-context.ts';
import { textMatcher } from '../regex.ts';
import type { ResultBatch } from '../result.ts';
import type { Predicate, SchemaFilter } from '../series-source.ts';
import { memberBytes, Members } from './members.ts';
import { namedDatabase, refuseTime, tagPredicate } from './show-context.ts';
import { listed, oneSeriesOf } from './show-rows.ts';
import type { RowPiece } from './show-rows.ts';

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
  const run = new RunContext(context);
  const chosen = where === undefined ? undefined : await measurementsWhere(where, filter, run);
  const pieces = named(measurementNames(filter, run), chosen);
  yield* listed(oneSeriesOf(pieces, ['name'], statement));
}

async function* named(
  pieces: AsyncIterable<readonly string[]>,
  chosen: ReadonlySet<string> | undefined,
): AsyncIterable<RowPiece> {
  for await (const names of pieces) {
    const shown = chosen === undefined ? names : names.filter((name) => chosen.has(name));
    yield { name: 'measurements', columns: [shown] };
  }
}

async function* measurementNames(
  filter: SchemaFilter,
  { query, pace }: RunContext,
): AsyncIterable<readonly string[]> {
  for await (const { names } of lookUp(query, 'measurements', { filter }, pace)) yield names;
}

/** Measurements for which the condition holds. */
async function measurementsWhere(
  where: Predicate,
  filter: SchemaFilter,
  run: RunContext,
): Promise<ReadonlySet<string>> {
  switch (where.kind) {
    case 'and':
    case 'or': {
      const left = await measurementsWhere(where.left, filter, run);
      const right = await measurementsWhere(where.right, filter, run);
      if (where.kind === 'or') return new Set([...left, ...right]);
      return new Set([...left].filter((name) => right.has(name)));
    }
    case 'constant': {
      const all = new Members(run);
      if (!where.value) return all.texts;
      for await (const names of measurementNames(filter, run)) {
        for (const name of names) all.add(name);
      }
      return all.texts;
    }
    case 'tag':
      return byTagValues(where.key, filter, run, {
        matches: (value) => value === where.value,
        wantsMatch: where.operator === '=',
      });
    case 'tag-regex':
      return byTagValues(where.key, filter, run, {
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
  run: RunContext,
  test: { readonly matches: (value: string) => boolean; readonly wantsMatch: boolean },
): Promise<ReadonlySet<string>> {
  const isMatched = new Map<string, boolean>();
  const asked = { filter, keys: { kind: 'in', keys: [key] } } as const;
  for await (const { measurement, values } of lookUp(run.query, 'tag-values', asked, run.pace)) {
    const known = isMatched.get(measurement);
    if (known === undefined) run.hold(memberBytes(measurement));
    isMatched.set(measurement, known === true || values.some(test.matches));
  }
  const found = [...isMatched].filter(([, matched]) => matched === test.wantsMatch);
  return new Set(found.map(([name]) => name));
}
