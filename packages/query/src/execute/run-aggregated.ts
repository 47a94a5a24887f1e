// Executes a SELECT whose functions the source calculates: its windows become rows, group by group.
import type { RowBatch } from '../batch/row-batch.ts';
import type { Operator } from '../operator.ts';
import type { RowsPlan } from '../plan/physical-plan.ts';
import type { MeasurementPlan } from '../plan/select-plan.ts';
import type { AggregateRequest } from '../series-source.ts';
import type { AggregatedGroup, AggregateOptions } from '../scan/aggregate-measurement.ts';
import { aggregateMeasurement, aggregateRequest } from '../scan/aggregate-measurement.ts';
import { CallsPlan } from '../plan/calls-plan.ts';
import { OpenGroup } from '../reduce/open-group.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { reduceWindows } from '../reduce/reduce-windows.ts';
import { wholeGroups } from '../reduce/whole-groups.ts';

/** Rows of the answer. */
export function runAggregated(
  rows: AggregatedPlan,
  execution: ExecutionContext,
): Operator<RowBatch> {
  const calls = new CallsPlan(rows.select);
  const windows = aggregatedGroups(rows, calls, execution);
  return rows.takesWholeGroups
    ? wholeGroups(windows, calls, execution)
    : reduceWindows(windows, new OpenGroup(calls, execution));
}

type AggregatedPlan = RowsPlan & { readonly kind: 'aggregated' };

/** Windows of all measurements, in the order of the answer. */
function* aggregatedGroups(
  rows: AggregatedPlan,
  calls: CallsPlan,
  execution: ExecutionContext,
): Operator<AggregatedGroup> {
  const options = aggregateOptions(rows, calls);
  for (const source of rows.sources)
    yield* aggregateMeasurement(source, rows.select, options, execution);
}

/** What the source is asked of one of the measurements. */
export function requestOf(source: MeasurementPlan, rows: AggregatedPlan): AggregateRequest {
  const options = aggregateOptions(rows, new CallsPlan(rows.select));
  return aggregateRequest(source, rows.select, options).request;
}

function aggregateOptions(
  { select, limitWindows }: AggregatedPlan,
  { range, keepsPointTime }: CallsPlan,
): AggregateOptions {
  const { interval } = select;
  return {
    range,
    window: interval && { everyNanos: interval.everyNanos, offsetNanos: interval.offsetNanos },
    omitsPointTimes: !keepsPointTime,
    limitWindows,
  };
}
