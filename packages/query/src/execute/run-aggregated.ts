// Executes a SELECT whose functions the source calculates: its windows become rows, group by group.
import type { RowBatch } from '../batch/row-batch.ts';
import type { Operator } from '../operator.ts';
import type { RowsPlan } from '../plan/physical-plan.ts';
import type { MeasurementPlan } from '../plan/select-plan.ts';
import type { MeasurementAggregates } from '../series-source.ts';
import type { AggregateOptions } from '../scan/aggregate-measurement.ts';
import { aggregateMeasurements, aggregateRequest } from '../scan/aggregate-measurement.ts';
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
  const options = aggregateOptions(rows, calls);
  const windows = aggregateMeasurements(rows.sources, rows.select, options, execution);
  return rows.takesWholeGroups
    ? wholeGroups(windows, calls, execution)
    : reduceWindows(windows, new OpenGroup(calls, execution));
}

type AggregatedPlan = RowsPlan & { readonly kind: 'aggregated' };

/** The request to the source for one of the measurements. */
export function requestOf(source: MeasurementPlan, rows: AggregatedPlan): MeasurementAggregates {
  const options = aggregateOptions(rows, new CallsPlan(rows.select));
  return { ...aggregateRequest(rows.select, options).request, source: source.measurement };
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
