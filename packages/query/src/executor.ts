// The executor: a parsed statement and its context in, batches of result series out.
//
// All functions are lazy: nothing runs before the first batch is pulled, and closing the iterator ends the work.
// What is wrong with a statement is thrown as an `AppError` whose message is the statement's `error`.
import { Internal } from '@tidemark/core';
import type { ExplainStatement, SelectStatement, ShowStatement } from '@tidemark/influxql';

import type { QueryContext } from './context.ts';
import type { ResultBatch } from './result.ts';

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

/** Runs a SELECT, with or without INTO. */
export function executeSelect(
  _statement: SelectStatement,
  _context: QueryContext,
): AsyncIterable<ResultBatch> {
  throw new Internal('executeSelect is not available yet');
}

/** Runs a SHOW statement about the schema. */
export function executeShow(
  _statement: SchemaShowStatement,
  _context: QueryContext,
): AsyncIterable<ResultBatch> {
  throw new Internal('executeShow is not available yet');
}

/** Runs EXPLAIN and EXPLAIN ANALYZE. */
export function executeExplain(
  _statement: ExplainStatement,
  _context: QueryContext,
): AsyncIterable<ResultBatch> {
  throw new Internal('executeExplain is not available yet');
}
