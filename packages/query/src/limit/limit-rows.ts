// LIMIT and OFFSET of a query without functions.
import { sliceRows } from '../batch/row-batch.ts';
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import { RowWindow } from '../batch/row-window.ts';
import { mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { SelectPlan } from '../plan/select-plan.ts';

/** LIMIT and OFFSET of a raw query count the rows of each series. */
export function limitRows(rows: Operator<RowBatch>, plan: SelectPlan): Operator<RowBatch> {
  if (plan.limit === 0 && plan.offset === 0) return rows;
  let group: GroupKey | undefined;
  let window = new RowWindow(plan);
  return mapBatches(rows, (batch) => {
    if (batch.group !== group) {
      group = batch.group;
      window = new RowWindow(plan);
    }
    const [from, to] = window.take(batch.times.length);
    return to === from ? undefined : sliceRows(batch, from, to);
  });
}
