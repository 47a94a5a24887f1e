// Executes a physical plan: each kind of node has its operator. Recursive for subqueries.
import type { RowBatch } from '../batch/row-batch.ts';
import { invalid } from '../compat-messages.ts';
import { PAUSE_CELLS } from '../limits.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { PhysicalPlan, RowsPlan } from '../plan/physical-plan.ts';
import { checkLimits } from '../limit/check-limits.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { runRaw } from './run-raw.ts';
import { runReduced } from './run-reduced.ts';
import { limitSeries } from '../limit/series-limit.ts';
import type { GroupEnds } from '../scan/group-ends.ts';
import { scanSeries } from '../scan/scan-series.ts';

/**
 * Rows of the answer: columns are the plan's outputs, groups in the order of the answer. `ends`
 * tells which groups need no more rows.
 */
export function execute(
  plan: PhysicalPlan,
  execution: ExecutionContext,
  ends?: GroupEnds,
): Operator<RowBatch> {
  return execution.operator('select', plan.select, checkedRows(plan, execution, ends));
}

function* checkedRows(
  { select, rows }: PhysicalPlan,
  execution: ExecutionContext,
  ends: GroupEnds | undefined,
): Operator<RowBatch> {
  yield* checkLimits(select, execution);
  const turns = new Turns();
  yield* flatMapBatches(rowsOf(rows, execution, ends), (batch) => turns.after(batch));
}

/** Gives others a turn after rows of some size. */
class Turns {
  #cells = 0;

  *after(batch: RowBatch): Operator<RowBatch> {
    yield batch;
    this.#cells += batch.times.length * (batch.columns.length + 1);
    if (this.#cells < PAUSE_CELLS) return;
    this.#cells = 0;
    yield;
  }
}

function rowsOf(rows: RowsPlan, execution: ExecutionContext, ends?: GroupEnds): Operator<RowBatch> {
  switch (rows.kind) {
    case 'fault':
      throw invalid(rows.fault.text, rows.fault.place);
    case 'limit-series': {
      const { select } = rows;
      return execution.operator(
        'limit series',
        select,
        limitSeries(rowsOf(rows.rows, execution), select),
      );
    }
    case 'concat':
      return concat(rows.parts, execution);
    case 'series':
      return scanSeries(rows, execution);
    case 'raw':
      return runRaw(rows, execution, { execute, ends });
    case 'reduced':
      return runReduced(rows, execution, execute);
  }
}

function* concat(parts: readonly RowsPlan[], execution: ExecutionContext): Operator<RowBatch> {
  for (const part of parts) yield* rowsOf(part, execution);
}
