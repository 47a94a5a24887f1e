// SHOW MEASUREMENTS: the measurements with a series that meets the condition.
import type { Binary, ShowStatement } from '@tidemark/influxql';

import { invalid } from '../compat-messages.ts';
import type { QueryContext } from '../context.ts';
import { lookUp } from '../look-up.ts';
import { ExecutionContext } from '../execution/execution-context.ts';
import type { ResultBatch } from '../result.ts';
import type { SchemaFilter } from '../series-source.ts';
import { namedDatabase, refuseTime, tagPredicate } from './show-context.ts';
import { oneSeriesOf } from './show-rows.ts';
import type { RowPiece } from './show-rows.ts';
import { measurementsOf, withCondition } from './show-sources.ts';
import { mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

type ShowMeasurements = Extract<ShowStatement, { kind: 'show-measurements' }>;

export function* showMeasurements(
  statement: ShowMeasurements,
  context: QueryContext,
): Operator<ResultBatch> {
  refuseTime(statement.condition, 'SHOW MEASUREMENTS');
  const database = namedDatabase(statement.database, context);
  const filter: SchemaFilter = {
    database,
    measurements: statement.with?.kind === 'equal' ? [statement.with.name] : undefined,
    measurementPattern: statement.with?.kind === 'match' ? statement.with.pattern : undefined,
  };
  const where = statement.condition && tagPredicate(statement.condition, refuseOther);
  if (!context.catalog.hasDatabase(database)) return;
  const execution = new ExecutionContext(context);
  const filters = yield* withCondition(filter, { where, timeRange: undefined }, execution);
  const chosen =
    where === undefined ? undefined : new Set((yield* measurementsOf(filters, execution)).texts);
  yield* oneSeriesOf(named(filter, chosen, execution), ['name'], statement);
}

/** Names of measurements are not listed for a comparison with a number or a boolean (recorded). */
function refuseOther({ left, operator, span }: Binary): never {
  const [side, is] = left.kind === 'reference' ? ['right', 'value string'] : ['left', 'key'];
  throw invalid(`${side} side of '${operator}' must be a tag ${is}`, {
    code: 'IQL_CONDITION',
    span,
    hint: "values of tags are texts: write 'false' or '5'",
  });
}

function named(
  filter: SchemaFilter,
  chosen: ReadonlySet<string> | undefined,
  { query }: ExecutionContext,
): Operator<RowPiece> {
  return mapBatches(lookUp(query, 'measurements', { filter }), ({ names }) => {
    const shown = chosen === undefined ? names : names.filter((name) => chosen.has(name));
    return { name: 'measurements', columns: [shown] };
  });
}
