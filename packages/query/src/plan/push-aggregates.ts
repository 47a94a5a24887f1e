// Decides which SELECTs the source can reduce itself, to windowed partial aggregates instead of
// rows.
import type { ReducerSpec } from '../functions/reducers.ts';
import type { AggregateFunction, Predicate, SourceCapabilities } from '../series-source.ts';
import type { SelectPlan } from './select-plan.ts';

const PUSHED: ReadonlySet<string> = new Set<AggregateFunction>([
  'count',
  'sum',
  'mean',
  'min',
  'max',
  'first',
  'last',
  'spread',
]);

/** The source's function for a reducer, if there is one. */
export function pushedFunction(reducer: ReducerSpec | undefined): AggregateFunction | undefined {
  return reducer !== undefined && PUSHED.has(reducer.kind)
    ? (reducer.kind as AggregateFunction)
    : undefined;
}

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
    const wanted = pushedFunction(call.reducer);
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
