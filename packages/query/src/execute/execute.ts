// Executes a physical plan: every kind of node has its operator. Recursive for subqueries.
import type { RowBatch } from '../batch/row-batch.ts';
import { invalid } from '../compat-messages.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { PhysicalPlan, RowsPlan } from '../plan/physical-plan.ts';
import { checkLimits } from '../limit/check-limits.ts';
import { runAggregated } from '../reduce/run-aggregated.ts';
import type { RunContext } from './run-context.ts';
import { runRaw } from '../project/run-raw.ts';
import { runReduced } from '../reduce/run-reduced.ts';
import { limitSeries } from '../limit/series-limit.ts';

/** Rows of the answer: columns are the plan's outputs, groups in the order of the answer. */
export function execute(plan: PhysicalPlan, run: RunContext): Operator<RowBatch> {
  return run.operator('select', plan.select, checkedRows(plan, run));
}

function* checkedRows({ select, rows }: PhysicalPlan, run: RunContext): Operator<RowBatch> {
  yield* checkLimits(select, run);
  for (const batch of rowsOf(rows, run)) {
    yield batch;
    if (!isPause(batch)) yield;
  }
}

function rowsOf(rows: RowsPlan, run: RunContext): Operator<RowBatch> {
  switch (rows.kind) {
    case 'fault':
      throw invalid(rows.fault.text, rows.fault.place);
    case 'limit-series': {
      const { select } = rows;
      return run.operator('limit series', select, limitSeries(rowsOf(rows.rows, run), select));
    }
    case 'in-turn':
      return inTurn(rows.parts, run);
    case 'raw':
      return runRaw(rows, run, execute);
    case 'reduced':
      return runReduced(rows, run, execute);
    case 'aggregated':
      return runAggregated(rows, run);
  }
}

function* inTurn(parts: readonly RowsPlan[], run: RunContext): Operator<RowBatch> {
  for (const part of parts) yield* rowsOf(part, run);
}
