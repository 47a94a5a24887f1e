// SHOW statements about the schema, by kind.
import type { ShowClauses, ShowStatement } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import type { ResultBatch } from '../result.ts';
import { showCardinality } from './show-cardinality.ts';
import { showMeasurements } from './show-measurements.ts';
import { showFieldKeys, showSeries, showTagKeys, showTagValues } from './show-schema.ts';
import type { Operator } from '../operator.ts';

/** SHOW statements about the schema; the others are answered by the service from its catalog. */
export type SchemaShowStatement = Extract<ShowStatement, ShowClauses>;

type Show = (statement: never, context: QueryContext) => Operator<ResultBatch>;

const SHOWS = {
  'show-measurements': showMeasurements,
  'show-field-keys': showFieldKeys,
  'show-series': showSeries,
  'show-tag-keys': showTagKeys,
  'show-tag-values': showTagValues,
  'show-cardinality': showCardinality,
} satisfies Readonly<Record<SchemaShowStatement['kind'], Show>>;

/** Runs a SHOW statement about the schema. */
export function executeShow(
  statement: SchemaShowStatement,
  context: QueryContext,
): Operator<ResultBatch> {
  const show: Show = SHOWS[statement.kind];
  return show(statement as never, context);
}
