// LIMIT and OFFSET of a query without functions.
import { sliceRows } from '../batch/row-batch.ts';
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import { mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { SelectPlan } from '../plan/select-plan.ts';

/** LIMIT and OFFSET of a raw query count the rows of each series. */
export function limitRows(rows: Operator<RowBatch>, plan: SelectPlan): Operator<RowBatch> {
  if (plan.limit === 0 && plan.offset === 0) return rows;
  let group: GroupKey | undefined;
  let seen = 0;
  const end = plan.limit === 0 ? Infinity : plan.offset + plan.limit;
  return mapBatches(rows, (batch) => {
    if (batch.group !== group) {
      group = batch.group;
      seen = 0;
    }
    const count = batch.times.length;
    const from = Math.min(Math.max(plan.offset - seen, 0), count);
    const to = Math.min(Math.max(end - seen, 0), count);
    seen += count;
    if (to <= from) return undefined;
    return from === 0 && to === count ? batch : sliceRows(batch, from, to);
  });
}
