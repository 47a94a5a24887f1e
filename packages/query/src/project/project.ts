// The SELECT list over rows of inputs or calls.
import type { Column } from '@tidemark/core';

import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import { PAUSE_CELLS } from '../limits.ts';
import type { Steps } from '../operator.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { evaluate } from './evaluate.ts';

/** Rows of one group, without it. */
export type Rows = { readonly times: BigInt64Array; readonly columns: readonly Column[] };

/** Evaluates the SELECT list, column by column. */
export function* project(plan: SelectPlan, group: GroupKey, rows: Rows): Steps<RowBatch> {
  const context = { columns: rows.columns, rowCount: rows.times.length, isCondition: false };
  const columns: Column[] = [];
  let cells = 0;
  for (const { expression } of plan.outputs) {
    cells += context.rowCount;
    if (cells > PAUSE_CELLS) {
      cells = 0;
      yield;
    }
    columns.push(evaluate(expression, context));
  }
  return { group, times: rows.times, columns };
}
