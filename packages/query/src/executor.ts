// The executor: a parsed statement and its context in, batches of result series out.
//
// All of it consists of operators (`operator.ts`): nothing runs before the first batch is pulled. A
// failing statement throws an `AppError` whose message is the statement's `error`.
import type { SelectStatement } from '@tidemark/influxql';

import { executeInStorageThread } from './answer.ts';
import type { RowBatch } from './batch/row-batch.ts';
import type { QueryContext } from './context.ts';
import { execute } from './execute/execute.ts';
import { writeInto } from './into/into.ts';
import { ExecutionContext } from './execution/execution-context.ts';
import { runSystemFields, selectsSystemFields } from './show/system-fields.ts';
import { toResults } from './project/to-results.ts';
import { physicalPlan } from './plan/physical-plan.ts';
import { planSeries } from './plan/plan-series.ts';
import type { SeriesRead } from './plan/plan-series.ts';
import { planStatement } from './plan/plan-statement.ts';
import type { ResultBatch } from './result.ts';
import type { Operator } from './operator.ts';

/** Runs a SELECT, with or without INTO. */
export function* executeSelect(
  statement: SelectStatement,
  context: QueryContext,
): Operator<ResultBatch> {
  if (statement.into !== undefined) {
    yield* writeInto(statement, statement.into, context);
    return;
  }
  if (selectsSystemFields(statement)) {
    yield* runSystemFields(statement, context);
    return;
  }
  const { select, cachedPlan } = yield* planStatement(statement, context);
  const plan = physicalPlan(select, context.capabilities);
  if (yield* executeInStorageThread(plan, cachedPlan, context)) return;
  yield* toResults(execute(plan, new ExecutionContext(context)), plan.select);
}

/**
 * Reads whole series, each a group of its own. What the reader keeps counts in the same execution.
 */
export function* executeSeries(read: SeriesRead, execution: ExecutionContext): Operator<RowBatch> {
  yield* execute(yield* planSeries(read, execution.query), execution);
}
