// Decides which SELECTs the source can reduce itself, to windowed partial aggregates instead of
// rows.
import { pushedFunction } from '../functions/reducers.ts';
import { readsFields } from '../predicate.ts';
import type { SourceCapabilities } from '../series-source.ts';
import type { SelectPlan } from './select-plan.ts';

/** Whether the source can answer all calls of the plan by itself. */
export function canPushAggregates(plan: SelectPlan, capabilities: SourceCapabilities): boolean {
  if (plan.calls.length === 0 || plan.auxiliaryInputs.length > 0) return false;
  if (plan.condition.residual !== undefined) return false;
  if (plan.zone !== undefined && plan.interval !== undefined) return false;
  const { pushed } = plan.condition;
  if (!capabilities.filtersFields && pushed !== undefined && readsFields(pushed)) return false;
  const names = new Set<string>();
  for (const source of plan.sources) {
    if (source.kind !== 'measurement' || names.has(source.measurement.measurement)) return false;
    names.add(source.measurement.measurement);
  }
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
