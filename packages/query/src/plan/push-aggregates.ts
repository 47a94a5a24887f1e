// Decides which SELECTs the source can reduce itself, to windowed partial aggregates instead of
// rows.
import { measurementsIn } from '@tidemark/influxql';
import { pushedFunction } from '../functions/reducers.ts';
import { readsFields } from '../predicate.ts';
import type { SourceCapabilities } from '../series-source.ts';
import type { SelectPlan, SourcePlan } from './select-plan.ts';

/** Whether the source can answer all calls of the plan by itself. */
export function canPushAggregates(plan: SelectPlan, capabilities: SourceCapabilities): boolean {
  if (plan.calls.length === 0 || plan.auxiliaryInputs.length > 0) return false;
  if (plan.condition.residual !== undefined) return false;
  if (plan.zone !== undefined && plan.interval !== undefined) return false;
  const { pushed } = plan.condition;
  if (!capabilities.filtersFields && pushed !== undefined && readsFields(pushed)) return false;
  if (!areDistinctMeasurements(plan.sources)) return false;
  const [first] = plan.calls;
  return plan.calls.every((call) => {
    const wanted = call.reducer && pushedFunction(call.reducer);
    return (
      wanted !== undefined &&
      capabilities.aggregateFunctions.has(wanted) &&
      call.prefetchWindows === first?.prefetchWindows
    );
  });
}

/** Whether every source is a measurement, and all names differ. */
export function areDistinctMeasurements(sources: readonly SourcePlan[]): boolean {
  const names = measurementsIn(sources).map(({ measurement }) => measurement.measurement);
  return new Set(names).size === sources.length;
}
