// SLIMIT and SOFFSET: which series are in the result.
import { isSubquery } from '@tidemark/influxql';
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

/**
 * The rows of SLIMIT series of each measurement, counted in the order of arrival among those with
 * rows. Reading ends at the last of them if there is only one measurement.
 */
export function limitSeries(rows: Operator<RowBatch>, plan: SelectPlan): Operator<RowBatch> {
  const end = plan.seriesLimit === 0 ? Infinity : plan.seriesOffset + plan.seriesLimit;
  const isOneMeasurement = plan.sources.length === 1 && !plan.sources.some(isSubquery);
  let group: GroupKey | undefined;
  let index = 0;
  const shown = (batch: RowBatch): RowBatch | undefined => {
    if (batch.times.length === 0) return undefined;
    if (batch.group !== group) {
      index = batch.group.name === group?.name ? index + 1 : 0;
      group = batch.group;
    }
    return index >= plan.seriesOffset && index < end ? batch : undefined;
  };
  return mapBatches(rows, shown, () => index >= end && isOneMeasurement);
}
