// SHOW statements about the schema, by kind.
import type { ShowStatement } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import type { ResultBatch } from '../result.ts';
import { showCardinality } from './show-cardinality.ts';
import { showMeasurements } from './show-measurements.ts';
import { showFieldKeys, showSeries, showTagKeys, showTagValues } from './show-schema.ts';
import type { Operator } from '../operator.ts';

/** SHOW statements about the schema; the others are answered by the service from its catalog. */
export type SchemaShowStatement = Extract<
  ShowStatement,
  {
    kind:
      | 'show-measurements'
      | 'show-field-keys'
      | 'show-series'
      | 'show-tag-keys'
      | 'show-tag-values'
      | 'show-cardinality';
  }
>;

/** Runs a SHOW statement about the schema. */
export function executeShow(
  statement: SchemaShowStatement,
  context: QueryContext,
): Operator<ResultBatch> {
  switch (statement.kind) {
    case 'show-measurements':
      return showMeasurements(statement, context);
    case 'show-field-keys':
      return showFieldKeys(statement, context);
    case 'show-series':
      return showSeries(statement, context);
    case 'show-tag-keys':
      return showTagKeys(statement, context);
    case 'show-tag-values':
      return showTagValues(statement, context);
    case 'show-cardinality':
      return showCardinality(statement, context);
  }
}
