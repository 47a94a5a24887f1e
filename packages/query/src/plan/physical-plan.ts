// The physical plan of a SELECT: a tree of operators, decided once from the plan and the
// capabilities of the source. It is executed by `execute/execute.ts` and printed by EXPLAIN.
import { isSubquery, measurementsIn, subqueriesIn } from '@tidemark/influxql';
import { compareBytes } from '@tidemark/core';

import type { AggregateCall, CallFault } from '../analyse/columns.ts';
import type { FieldRef, SourceCapabilities } from '../series-source.ts';
import { areDistinctMeasurements, callReads, planOfCalls } from './call-reads.ts';
import type { CallReads } from './call-reads.ts';
import { withCalculatedCondition } from './calculated-condition.ts';
import { takeAnyOrder } from './any-order.ts';
import { foldOfCall, mayHaveManyPoints } from './calls-plan.ts';
import { hasSeriesPerGroup } from './plan-select.ts';
import type { MeasurementPlan, SelectPlan, SourcePlan, SubqueryPlan } from './select-plan.ts';

/** One SELECT, the outermost or a subquery: its limits are checked before its rows are read. */
export type PhysicalPlan = {
  readonly select: SelectPlan;
  readonly rows: RowsPlan;
};

/** Rows of the answer of a SELECT, in the order of the answer. */
export type RowsPlan =
  /** A call does not suit its field: reading the rows throws. */
  | { readonly kind: 'fault'; readonly fault: CallFault }
  /** Series by SLIMIT and SOFFSET. */
  | { readonly kind: 'limit-series'; readonly select: SelectPlan; readonly rows: RowsPlan }
  | { readonly kind: 'concat'; readonly parts: readonly RowsPlan[] }
  /** Whole series, each a group (`plan-series.ts`). */
  | {
      readonly kind: 'series';
      readonly select: SelectPlan;
      readonly field: FieldRef;
      readonly sources: readonly MeasurementPlan[];
    }
  /** Without functions: rows of the sources, filled and evaluated. */
  | { readonly kind: 'raw'; readonly select: SelectPlan; readonly sources: SourcesPlan }
  /** Functions: those that the source calculates, and those that are calculated here. */
  | {
      readonly kind: 'reduced';
      readonly select: SelectPlan;
      readonly folded: readonly FoldedCalls[];
      /** Absent if the source calculates all calls. */
      readonly rows: CallRows | undefined;
      /** Groups that come in one batch with every window need no queues and no filling. */
      readonly takesWholeGroups: boolean;
    };

/** Calls that the source calculates in one pass. */
export type FoldedCalls = {
  /** Their numbers. */
  readonly calls: readonly number[];
  readonly sources: readonly MeasurementPlan[];
  /** Number of windows requested for each group; `undefined` means all. */
  readonly limitWindows: number | undefined;
  /**
   * How groups are read in which the best rows are tied; present if the source finds rows
   * (`BestRows`), which is asked for alone.
   */
  readonly ifTied: CallRows | undefined;
};

/** Calls that are calculated here, from rows. */
export type CallRows = {
  /** Their numbers. */
  readonly calls: readonly number[];
  /** The plan for these calls, which has only their inputs. */
  readonly select: SelectPlan;
  /** Why the source does not calculate them. */
  readonly why: string;
  readonly sources: SourcesPlan;
  /** Reading ends at a value outside of the range (`stop-out-of-range.ts`). */
  readonly stopsOutOfRange: boolean;
  /** Rows of a subquery are not merged: one of its groups may come after another. */
  readonly anyOrder: boolean;
};

/** Rows of everything that FROM names, with the inputs of the plan as columns. */
export type SourcesPlan = {
  /** Measurements with different names follow each other; the rows of others are merged. */
  readonly kind: 'concat' | 'merge';
  readonly sources: readonly OpenPlan[];
};

export type OpenPlan =
  | {
      readonly kind: 'scan';
      readonly source: MeasurementPlan;
      /** The tags of a group determine its series: nothing is merged. */
      readonly hasSeriesPerGroup: boolean;
    }
  | { readonly kind: 'subquery'; readonly source: SubqueryPlan; readonly inner: PhysicalPlan };

/** Decides how a plan is executed over a source. */
export function physicalPlan(
  statement: SelectPlan,
  capabilities: SourceCapabilities,
): PhysicalPlan {
  const select = capabilities.calculatesConditions ? withCalculatedCondition(statement) : statement;
  return { select, rows: limitedRows(select, capabilities) };
}

function limitedRows(select: SelectPlan, capabilities: SourceCapabilities): RowsPlan {
  if (select.seriesLimit === 0 && select.seriesOffset === 0) return rowsPlan(select, capabilities);
  // Measurements are limited one by one, so that none is read further than needed.
  const selects = haveDistinctNames(select)
    ? inNameOrder(select).map((source) => ({ ...select, sources: [source] }))
    : [select];
  const parts = selects.map((part): RowsPlan => {
    return { kind: 'limit-series', select: part, rows: rowsPlan(part, capabilities) };
  });
  return parts.length === 1 ? parts[0]! : { kind: 'concat', parts };
}

function rowsPlan(select: SelectPlan, capabilities: SourceCapabilities): RowsPlan {
  if (select.calls.length === 0) {
    return { kind: 'raw', select, sources: sourcesPlan(select, capabilities) };
  }
  const fault = firstFault(select);
  if (fault !== undefined) return { kind: 'fault', fault };
  const { folded, rows } = callReads(select, capabilities);
  const requests = folded.map((calls) => foldedCalls(select, calls, capabilities));
  return {
    kind: 'reduced',
    select,
    folded: requests,
    rows: rows && callRows(select, rows, capabilities),
    takesWholeGroups: rows === undefined && requests.length === 1 && takesWholeGroups(select),
  };
}

/** The fault of a call on a field of the wrong type; that of an inner query comes first. */
function firstFault(select: SelectPlan): CallFault | undefined {
  const own = select.calls.find((call) => call.fault !== undefined)?.fault;
  if (own === undefined) return undefined;
  for (const { plan } of subqueriesIn(select.sources)) {
    const inner = firstFault(plan);
    if (inner !== undefined) return inner;
  }
  return own;
}

function foldedCalls(
  select: SelectPlan,
  calls: readonly number[],
  capabilities: SourceCapabilities,
): FoldedCalls {
  const { limit, offset, interval } = select;
  const [first, ...others] = calls.map((number) => select.calls[number]!);
  // Calls are limited separately: one may need windows in which the others have no point.
  const canLimit =
    limit > 0 &&
    interval !== undefined &&
    others.every((call) => call.input === first!.input) &&
    [first!, ...others].every(
      (call) => call.transformations.length === 0 && hasOnePoint(call, select),
    );
  return {
    calls,
    sources: measurementsIn(inNameOrder(select)),
    // One window more than the answer has, because linear fill reads the next one.
    limitWindows: canLimit ? limit + offset + 1 : undefined,
    ifTied:
      foldOfCall(first!, select)?.kind === 'best'
        ? callRows(select, { calls, why: 'rows of one time and value are tied' }, capabilities)
        : undefined,
  };
}

function takesWholeGroups(select: SelectPlan): boolean {
  const { calls, limit, offset, zone } = select;
  return (
    limit === 0 &&
    offset === 0 &&
    zone === undefined &&
    calls.every(
      (call) =>
        call.input !== undefined &&
        call.transformations.length === 0 &&
        call.prefetchWindows === 0 &&
        foldOfCall(call, select)?.kind === 'aggregate',
    )
  );
}

function callRows(
  plan: SelectPlan,
  { calls, why }: NonNullable<CallReads['rows']>,
  capabilities: SourceCapabilities,
): CallRows {
  const select = planOfCalls(plan, calls);
  const sources = sourcesPlan(select, capabilities);
  return {
    calls,
    select,
    why,
    sources,
    stopsOutOfRange: stopsOutOfRange(select),
    anyOrder: takeAnyOrder(select),
  };
}

/** Whether every window with values of the field has one point. */
function hasOnePoint(call: AggregateCall, select: SelectPlan): boolean {
  const fold = foldOfCall(call, select);
  if (fold?.kind === 'aggregate') return true;
  if (fold?.kind === 'points' && fold.function.kind === 'percentile') return false;
  return !mayHaveManyPoints(call);
}

function stopsOutOfRange({ interval, sources, calls }: SelectPlan): boolean {
  return (
    interval === undefined &&
    sources.some(isSubquery) &&
    calls.some((call) => call.reducer !== undefined)
  );
}

function sourcesPlan(select: SelectPlan, capabilities: SourceCapabilities): SourcesPlan {
  const open = (source: SourcePlan): OpenPlan =>
    source.kind === 'measurement'
      ? {
          kind: 'scan',
          source,
          hasSeriesPerGroup: hasSeriesPerGroup(source.tagKeys, select.dimensions),
        }
      : { kind: 'subquery', source, inner: physicalPlan(source.plan, capabilities) };
  return haveDistinctNames(select)
    ? { kind: 'concat', sources: inNameOrder(select).map(open) }
    : { kind: 'merge', sources: select.sources.map(open) };
}

/** Whether the groups of the sources follow each other. */
function haveDistinctNames({ sources }: SelectPlan): boolean {
  return sources.length === 1 || areDistinctMeasurements(sources);
}

/** Sources in the order of their names, which is that of the answer. */
export function inNameOrder({ sources, descending }: SelectPlan): readonly SourcePlan[] {
  if (sources.length === 1) return sources;
  const direction = descending ? -1 : 1;
  const name = (source: SourcePlan): string =>
    isSubquery(source) ? '' : source.measurement.measurement;
  return [...sources].sort((a, b) => compareBytes(name(a), name(b)) * direction);
}
