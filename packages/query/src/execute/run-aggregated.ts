// Executes a SELECT whose functions the source calculates: its windows become rows, group by group.
import type { RowBatch } from '../batch/row-batch.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { MeasurementPlan } from '../plan/select-plan.ts';
import type { MeasurementAggregates } from '../series-source.ts';
import type { AggregatedGroup, AggregatedPlan } from '../scan/aggregate-measurement.ts';
import { aggregateMeasurements, aggregateRequest } from '../scan/aggregate-measurement.ts';
import { CallsPlan } from '../plan/calls-plan.ts';
import { OpenGroup } from '../reduce/open-group.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { wholeGroups } from '../reduce/whole-groups.ts';

/** Rows of the answer. */
export function runAggregated(
  rows: AggregatedPlan,
  execution: ExecutionContext,
): Operator<RowBatch> {
  const calls = new CallsPlan(rows.select);
  const windows = aggregateMeasurements(rows, calls, execution);
  return rows.takesWholeGroups
    ? wholeGroups(windows, calls, execution)
    : reduceWindows(windows, new OpenGroup(calls, execution));
}

/** Rows of the answer: filled, transformed, the calls of a group joined. */
function* reduceWindows(windows: Operator<AggregatedGroup>, open: OpenGroup): Operator<RowBatch> {
  yield* flatMapBatches(windows, (batch) => open.pushWindows(batch));
  yield* open.finish();
}

/** The request to the source for one of the measurements. */
export function requestOf(source: MeasurementPlan, rows: AggregatedPlan): MeasurementAggregates {
  const { request } = aggregateRequest(rows, new CallsPlan(rows.select));
  return { ...request, source: source.measurement };
}
