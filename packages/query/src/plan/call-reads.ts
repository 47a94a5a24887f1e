// Decides call by call what the source calculates, as windows instead of rows. What it cannot is
// calculated here, from rows of the inputs of those calls only.
import { measurementsIn } from '@tidemark/influxql';
import type { TimeRange } from '@tidemark/core';
import type { AggregateCall } from '../analyse/columns.ts';
import { ZONE_SPAN_NANOS } from '../limits.ts';
import { readsFields } from '../predicate.ts';
import type { SourceCapabilities } from '../series-source.ts';
import { print } from '../print.ts';
import { foldOfCall } from './calls-plan.ts';
import { hasSeriesPerGroup } from './plan-select.ts';
import type { SelectPlan, SourcePlan } from './select-plan.ts';

/** Where the calls of a plan come from, by their numbers. */
export type CallReads = {
  /** Calls that begin with the same windows share a request to the source. */
  readonly folded: readonly (readonly number[])[];
  /** Calls that need rows, and why; absent if there are none. */
  readonly rows: { readonly calls: readonly number[]; readonly why: string } | undefined;
};

export function callReads(plan: SelectPlan, capabilities: SourceCapabilities): CallReads {
  const whyAll = whyAllRows(plan, capabilities);
  if (whyAll !== undefined) return { folded: [], rows: { calls: numbersOf(plan), why: whyAll } };
  const folded = new Map<number, number[]>();
  const calls: number[] = [];
  const reasons: string[] = [];
  for (const [i, call] of plan.calls.entries()) {
    const why = whyRowsOf(call, plan, capabilities);
    if (why === undefined) {
      const together = folded.get(call.prefetchWindows);
      if (together === undefined) folded.set(call.prefetchWindows, [i]);
      else together.push(i);
    } else {
      calls.push(i);
      reasons.push(`${print(call.expression)}: ${why}`);
    }
  }
  if (calls.length > 0 && folded.size > 0 && sharesRows(plan)) {
    const why = `${reasons.join(', ')}; the others take the same rows`;
    return { folded: [], rows: { calls: numbersOf(plan), why } };
  }
  const rows = calls.length === 0 ? undefined : { calls, why: reasons.join(', ') };
  return { folded: [...folded.values()], rows };
}

/**
 * Whether one read of rows for all calls costs less than two: those of a group are not merged, or
 * they are found by their values.
 */
function sharesRows({ condition: { pushed }, sources, dimensions }: SelectPlan): boolean {
  if (pushed !== undefined && readsFields(pushed)) return true;
  return measurementsIn(sources).every(({ tagKeys }) => hasSeriesPerGroup(tagKeys, dimensions));
}

function numbersOf({ calls }: SelectPlan): readonly number[] {
  return calls.map((_, i) => i);
}

/** Why all calls of a plan need rows; `undefined` if that depends on the call. */
function whyAllRows(plan: SelectPlan, capabilities: SourceCapabilities): string | undefined {
  const { pushed, residual } = plan.condition;
  if (residual !== undefined) return 'the condition compares more than the source knows';
  if (plan.zone !== undefined && plan.interval !== undefined && !isShort(plan.range)) {
    return 'windows follow a time zone for very long';
  }
  if (!capabilities.filtersFields && pushed !== undefined && readsFields(pushed)) {
    return 'the source does not compare fields';
  }
  if (!areDistinctMeasurements(plan.sources)) return 'they come from a subquery, or are merged';
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
    case 'best':
      return capabilities.ranksRows ? undefined : NOT_IN_SOURCE;
  }
}

/** Whether a range has few changes of clocks: each is a request of its own, or two. */
function isShort({ start, end }: TimeRange): boolean {
  return end - start <= ZONE_SPAN_NANOS;
}

const NOT_IN_SOURCE = 'the source does not calculate it';

/**
 * The plan for some of the calls, with the inputs that they read. The condition is one that the
 * source applies.
 */
export function planOfCalls(plan: SelectPlan, numbers: readonly number[]): SelectPlan {
  if (numbers.length === plan.calls.length) return plan;
  const chosen = numbers.map((number) => plan.calls[number]!);
  const read = new Set(chosen.flatMap(inputsOf));
  const kept = plan.inputs.flatMap((_, i) => (read.has(i) ? i : []));
  const newNumber = new Map(kept.map((old, i) => [old, i]));
  const inputs = kept.map((old) => plan.inputs[old]!);
  const { seriesInput } = plan;
  const ofSeries = seriesInput === undefined ? [] : [plan.inputs[seriesInput]!];
  return {
    ...plan,
    inputs: [...inputs, ...ofSeries],
    seriesInput: seriesInput === undefined ? undefined : inputs.length,
    selectedInputCount: inputs.length,
    calls: chosen.map((call) => withInputs(call, (old) => newNumber.get(old)!)),
  };
}

/** The inputs that a call reads. */
function inputsOf({ input, reducer }: AggregateCall): readonly number[] {
  const tags = reducer !== undefined && 'distinctInputs' in reducer ? reducer.distinctInputs : [];
  return input === undefined ? tags : [input, ...tags];
}

function withInputs(call: AggregateCall, numberOf: (input: number) => number): AggregateCall {
  const { input, reducer } = call;
  return {
    ...call,
    input: input === undefined ? undefined : numberOf(input),
    reducer:
      reducer !== undefined && 'distinctInputs' in reducer
        ? { ...reducer, distinctInputs: reducer.distinctInputs.map(numberOf) }
        : reducer,
  };
}

/** Whether every source is a measurement, and all names differ. */
export function areDistinctMeasurements(sources: readonly SourcePlan[]): boolean {
  const names = measurementsIn(sources).map(({ measurement }) => measurement.measurement);
  return new Set(names).size === sources.length;
}
