// Decides which SELECTs the source can reduce itself, to windowed partial aggregates instead of
// rows.
import { pushedFunction } from '../functions/reducers.ts';
import type { Predicate, SourceCapabilities } from '../series-source.ts';
import type { SelectPlan } from './select-plan.ts';

/** Whether the source can answer all calls of the plan by itself. */
export function canPushAggregates(plan: SelectPlan, capabilities: SourceCapabilities): boolean {
  if (plan.calls.length === 0 || plan.auxiliaryInputs.length > 0) return false;
  if (plan.condition.residual !== undefined) return false;
  if (plan.zone !== undefined && plan.interval !== undefined) return false;
  const { pushed } = plan.condition;
  if (!capabilities.filtersFields && pushed !== undefined && hasFieldLeaf(pushed)) return false;
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

function hasFieldLeaf(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'and':
    case 'or':
      return hasFieldLeaf(predicate.left) || hasFieldLeaf(predicate.right);
    case 'field':
    case 'field-regex':
      return true;
    default:
      return false;
  }
}
