// Executes a SELECT without functions: rows of the sources, filled and evaluated.
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { RowsPlan } from '../plan/physical-plan.ts';
import { rangeBefore } from '../plan/prefetch.ts';
import { limitRows } from '../limit/limit-rows.ts';
import { openRows } from '../scan/open-rows.ts';
import { GroupEnds } from '../scan/group-ends.ts';
import type { Execute } from '../scan/open-rows.ts';
import { project } from '../project/project.ts';
import { rawDefaults } from '../fill/row-defaults.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';

/** Rows of the answer. */
export function runRaw(
  rows: RawPlan,
  execution: ExecutionContext,
  { execute, ends }: RawOptions,
): Operator<RowBatch> {
  return limitRows(selectedRows(rows, execution, { execute, ends }), rows.select);
}

type RawOptions = {
  readonly execute: Execute;
  /** Set by the reader of these rows. */
  readonly ends: GroupEnds | undefined;
};

type RawPlan = RowsPlan & { readonly kind: 'raw' };

function* selectedRows(
  { select: plan, sources }: RawPlan,
  execution: ExecutionContext,
  { execute, ends: ofReader }: RawOptions,
): Operator<RowBatch> {
  if (plan.selectedInputCount === 0) return;
  const wanted = plan.limit === 0 ? undefined : plan.limit + plan.offset;
  const ends = wanted === undefined ? ofReader : new GroupEnds();
  const options = { range: rangeBefore(plan, 0), limitPerSeries: wanted, ends };
  const opened = openRows({ select: plan, sources, options }, execution, execute);
  const defaults = rawDefaults(plan);
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
      defaults.startGroup();
    }
    if (wanted !== undefined && count >= wanted) continue;
    count += batch.times.length;
    const isLast = count >= (wanted ?? Infinity) || ofReader?.isEnded(batch.group) === true;
    if (isLast) ends?.end(batch.group);
    const rows = { times: batch.times, columns: defaults.apply(batch.columns) };
    yield yield* execution.step('evaluate columns', plan, project(plan, batch.group, rows));
  }
}
