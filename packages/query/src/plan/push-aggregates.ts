// Decides which SELECTs the source can reduce itself, to windowed partial aggregates instead of
// rows.
import { measurementsIn } from '@tidemark/influxql';
import type { TimeRange } from '@tidemark/core';
import type { AggregateCall } from '../analyse/columns.ts';
import { ZONE_SPAN_NANOS } from '../limits.ts';
import { readsFields } from '../predicate.ts';
import type { SourceCapabilities } from '../series-source.ts';
import { print } from '../print.ts';
import { foldOfCall } from './calls-plan.ts';
import type { SelectPlan, SourcePlan } from './select-plan.ts';

/** Why the calls of a plan need rows; `undefined` if the source can answer all by itself. */
export function whyRows(plan: SelectPlan, capabilities: SourceCapabilities): string | undefined {
  const { pushed, residual } = plan.condition;
  if (residual !== undefined) return 'the condition compares more than the source knows';
  if (plan.zone !== undefined && plan.interval !== undefined && !isShort(plan.range)) {
    return 'windows follow a time zone for very long';
  }
  if (!capabilities.filtersFields && pushed !== undefined && readsFields(pushed)) {
    return 'the source does not compare fields';
  }
  if (!areDistinctMeasurements(plan.sources)) return 'they come from a subquery, or are merged';
  const [first] = plan.calls;
  for (const call of plan.calls) {
    const why = whyRowsOf(call, plan, capabilities);
    if (why !== undefined) return `${print(call.expression)}: ${why}`;
    if (call.prefetchWindows !== first?.prefetchWindows) {
      return 'calls begin with different windows';
    }
  }
  return undefined;
}

function whyRowsOf(
  call: AggregateCall,
  plan: SelectPlan,
  capabilities: SourceCapabilities,
): string | undefined {
  const fold = foldOfCall(call, plan);
  switch (fold?.kind) {
    case undefined:
      return 'it has points for rows, not for windows';
    case 'rows':
      return fold.why;
    case 'aggregate':
      return capabilities.aggregateFunctions.has(fold.name) ? undefined : NOT_IN_SOURCE;
    case 'points':
      return capabilities.foldFunctions.has(fold.function.kind) ? undefined : NOT_IN_SOURCE;
  }
}

/** Whether a range has few changes of clocks: each is a request of its own, or two. */
function isShort({ start, end }: TimeRange): boolean {
  return end - start <= ZONE_SPAN_NANOS;
}

const NOT_IN_SOURCE = 'the source does not calculate it';

/** Whether every source is a measurement, and all names differ. */
export function areDistinctMeasurements(sources: readonly SourcePlan[]): boolean {
  const names = measurementsIn(sources).map(({ measurement }) => measurement.measurement);
  return new Set(names).size === sources.length;
}
