// A SELECT without functions: rows of the sources, filled and evaluated.
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { limitRows } from './limit-rows.ts';
import { openRows } from './open-rows.ts';
import type { RunPlan } from './open-rows.ts';
import { project } from './project.ts';
import { RawFiller } from './row-defaults.ts';
import type { RunContext } from './run-context.ts';

/** Rows of the answer. */
export function runRaw(plan: SelectPlan, run: RunContext, runPlan: RunPlan): Operator<RowBatch> {
  return limitRows(selectedRows(plan, run, runPlan), plan);
}

function* selectedRows(plan: SelectPlan, run: RunContext, runPlan: RunPlan): Operator<RowBatch> {
  if (plan.selectedInputCount === 0) return;
  const wanted = plan.limit === 0 ? undefined : plan.limit + plan.offset;
  const opened = openRows(plan, { range: plan.range, limitPerSeries: wanted }, run, runPlan);
  const filler = new RawFiller(plan);
  let done: GroupKey | undefined;
  let count = 0;
  for (const batch of opened) {
    if (isPause(batch)) {
      yield batch;
      continue;
    }
    if (batch.group !== done) {
      done = batch.group;
      count = 0;
    }
    if (wanted !== undefined && count >= wanted) continue;
    count += batch.times.length;
    const rows = { times: batch.times, columns: filler.fill(batch) };
    yield yield* run.step('evaluate columns', plan, project(plan, batch.group, rows));
  }
}
