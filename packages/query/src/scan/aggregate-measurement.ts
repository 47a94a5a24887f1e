// Calls that the source reduces itself: windowed partial aggregates instead of rows.
import type { Column, FieldType, TimeRange } from '@tidemark/core';
import { rowsBytes } from '@tidemark/core';

import type { GroupKey } from '../batch/row-batch.ts';
import { maskToRows, nullColumn } from '../batch/column-ops.ts';
import type { AggregateCall } from '../analyse/columns.ts';
import type { Fold } from '../functions/reducers.ts';
import { CallsPlan, foldOfCall } from '../plan/calls-plan.ts';
import type { FoldedCalls } from '../plan/physical-plan.ts';
import type { MeasurementPlan, SelectPlan } from '../plan/select-plan.ts';
import { windowSegments } from '../plan/window-segments.ts';
import type { WindowSegment } from '../plan/window-segments.ts';
import type {
  AggregateBatch,
  AggregateColumn,
  AggregateFunction,
  AggregateRequest,
  BestRows,
  FieldFolds,
  FieldRef,
  FoldFunction,
  MeasurementAggregates,
  RowColumn,
  WindowPoints,
} from '../series-source.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { groupOf } from './group-ends.ts';
import { mergeGroups, tiedAsWhole } from './merge-groups.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

/** What a call has in some windows: at most one point in each, or any number. */
export type CallWindows = AggregateColumn | WindowPoints;

/** Reduced points of some windows of one group: for each call the windows that have a point. */
export type AggregatedGroup = {
  readonly group: GroupKey;
  readonly windowStarts: BigInt64Array;
  /** One per call of the plan; `undefined` for those of other requests. */
  readonly calls: readonly (CallWindows | undefined)[];
  /** There are no windows: the rows of the group have to be read (`AggregateBatch`). */
  readonly isTied?: boolean | undefined;
};

/** Maximum number of measurements per request. */
const SOURCES_AT_ONCE = 4096;

/**
 * Aggregates of measurements, in the order of the answer. Batches of one group share the group
 * object.
 */
export function* aggregateMeasurements(
  folded: FoldedCalls,
  calls: CallsPlan,
  execution: ExecutionContext,
): Operator<AggregatedGroup> {
  for (let at = 0; at < folded.sources.length; at += SOURCES_AT_ONCE) {
    const sources = folded.sources.slice(at, at + SOURCES_AT_ONCE);
    yield* aggregateTogether({ ...folded, sources }, calls, execution);
  }
}

function* aggregateTogether(
  folded: FoldedCalls,
  calls: CallsPlan,
  execution: ExecutionContext,
): Operator<AggregatedGroup> {
  const { zone, interval, descending } = calls.plan;
  const range = rangeOf(folded, calls);
  if (zone === undefined || interval === undefined) {
    yield* aggregateSegment(folded, { range, window: interval }, { calls, execution });
    return;
  }
  const segments = yield* windowSegments(range, interval, zone);
  const ordered = descending ? segments.toReversed() : segments;
  const streams = ordered.map((segment) => aggregateSegment(folded, segment, { calls, execution }));
  const merged = mergeGroups(streams, { descending });
  if (folded.ifTied === undefined) yield* merged;
  else yield* tiedAsWhole(merged, { bytesOf, hold: (bytes) => execution.hold(bytes) });
}

/** Memory of points with other columns. */
function bytesOf({ windowStarts, calls }: AggregatedGroup): number {
  const columns = calls.flatMap((windows) =>
    windows === undefined || !('counts' in windows)
      ? []
      : [windows.values, ...(windows.columns ?? [])],
  );
  return rowsBytes(windowStarts, columns);
}

function* aggregateSegment(
  folded: FoldedCalls,
  { range, window, start }: Omit<WindowSegment, 'start'> & { readonly start?: bigint },
  { calls, execution }: { readonly calls: CallsPlan; readonly execution: ExecutionContext },
): Operator<AggregatedGroup> {
  const { sources } = folded;
  const { plan } = calls;
  const { request, addresses } = aggregateRequest(folded, calls);
  if (addresses.every((address) => address === undefined || address === 'none')) return;
  const { query } = execution;
  const options = execution.countingOptions();
  const measurements = sources.map(({ measurement }) => measurement);
  const label = sources.length > 1 ? `aggregate ${sources.length} measurements from` : 'aggregate';
  const asked = { ...request, timeRange: range, window, sources: measurements };
  const reduced = execution.read(label, sources[0]!, {
    from: query.snapshot.aggregate(asked, options),
    rowsOf: (batch) => batch.windowStarts.length,
  });
  // A window of its own length is asked for as a range, which may begin inside of it.
  const ownStart = window === undefined && plan.interval !== undefined ? start : undefined;
  const groups = new AggregatedGroups({ sources, plan, addresses, ownStart });
  yield* flatMapBatches(reduced, (batch) => {
    execution.checkRowsRead(options.counters);
    return groups.of(batch);
  });
}

type Aggregated = {
  readonly sources: readonly MeasurementPlan[];
  readonly plan: SelectPlan;
  readonly addresses: readonly CallAddress[];
  /** Start of the only window, if it is not that of the source. */
  readonly ownStart: bigint | undefined;
};

class AggregatedGroups {
  readonly #aggregated: Aggregated;
  #group: GroupKey | undefined;

  constructor(aggregated: Aggregated) {
    this.#aggregated = aggregated;
  }

  *of(batch: AggregateBatch): Operator<AggregatedGroup> {
    yield;
    const { source = 0, groupTags, fields, points = [], isTied } = batch;
    const { sources, plan, addresses, ownStart } = this.#aggregated;
    const windowStarts =
      ownStart === undefined
        ? batch.windowStarts
        : new BigInt64Array(batch.windowStarts.length).fill(ownStart);
    const name = sources[source]!.measurement.measurement;
    const tags = plan.dimensions.map((key) => groupTags.get(key) ?? '');
    this.#group = groupOf(this.#group, name, tags);
    const calls = addresses.map((address): CallWindows | undefined => {
      if (address === undefined) return undefined;
      if (address === 'none') return { values: nullColumn('float', windowStarts.length) };
      const columns = address.isFold ? points[address.field] : fields[address.field];
      return columns?.[address.column] ?? noPoints(windowStarts.length);
    });
    yield { group: this.#group, windowStarts, calls, isTied };
  }
}

function noPoints(windowCount: number): WindowPoints {
  return { counts: new Uint32Array(windowCount), values: nullColumn('float', 0) };
}

type ColumnAddress = {
  readonly isFold: boolean;
  /** Number of the entry in `folds` or `aggregates`. */
  readonly field: number;
  /** Number of its function. */
  readonly column: number;
};

/** `none` for a call of an unknown field, `undefined` for one that is not of the request. */
type CallAddress = ColumnAddress | 'none' | undefined;

function rangeOf({ calls: numbers }: FoldedCalls, calls: CallsPlan): TimeRange {
  return calls.rangeOfAll(numbers.map((number) => calls.plan.calls[number]!));
}

/**
 * One entry per field with all its requested functions, so that the source reads each field once.
 */
function aggregateRequest(
  folded: FoldedCalls,
  calls: CallsPlan,
): {
  readonly request: Omit<AggregateRequest, 'sources'> & { readonly folds: readonly FieldFolds[] };
  readonly addresses: readonly CallAddress[];
} {
  const { plan, keepsPointTime } = calls;
  const numbers = new Set(folded.calls);
  const aggregates = new FieldFunctions<AggregateFunction>((name) => name);
  const folds = new FieldFunctions<FoldFunction>((wanted) => JSON.stringify(wanted));
  let best: BestRows | undefined;
  const addresses = plan.calls.map((call, i): CallAddress => {
    if (!numbers.has(i)) return undefined;
    const input = callField(call, plan);
    const fold = foldOfCall(call, plan);
    if (input === undefined) return 'none';
    if (fold?.kind === 'aggregate') return { isFold: false, ...aggregates.add(input, fold.name) };
    if (fold?.kind === 'points') return { isFold: true, ...folds.add(input, fold.function) };
    if (fold?.kind === 'best') {
      // It is the only call, because other columns belong to its rows.
      best = bestRows(call, fold, input, plan);
      return { isFold: true, field: 0, column: 0 };
    }
    return 'none';
  });
  return {
    addresses,
    request: {
      timeRange: rangeOf(folded, calls),
      where: plan.condition.pushed,
      descending: plan.descending,
      groupBy: plan.dimensions,
      aggregates: aggregates.fields,
      folds: folds.fields,
      best,
      window: plan.interval,
      limitWindows: folded.limitWindows,
      picksTiedByKey: plan.seriesInput !== undefined,
      omitsPointTimes: !keepsPointTime,
    },
  };
}

function bestRows(
  { reducer }: AggregateCall,
  { order, count }: Fold & { readonly kind: 'best' },
  { name, type }: FieldRef,
  { inputs, auxiliaryInputs }: SelectPlan,
): BestRows {
  const tags = reducer !== undefined && 'distinctInputs' in reducer ? reducer.distinctInputs : [];
  return {
    field: name,
    type,
    order,
    count,
    distinctTags: tags.map((tag) => inputs[tag]!.name),
    columns: auxiliaryInputs.map((input): RowColumn => {
      const column = inputs[input]!;
      if (column.kind === 'field') return { kind: 'field', name: column.name, type: column.type };
      return { kind: 'tag', name: column.name };
    }),
  };
}

type FunctionAddress = { readonly field: number; readonly column: number };

/** Fields with the functions that are wanted of each, every one once. */
class FieldFunctions<T> {
  readonly fields: { field: string; type: FieldType; functions: T[] }[] = [];
  readonly #keyOf: (wanted: T) => string;
  readonly #fieldIndexes = new Map<string, number>();
  readonly #addresses = new Map<string, FunctionAddress>();

  constructor(keyOf: (wanted: T) => string) {
    this.#keyOf = keyOf;
  }

  add({ type, name }: FieldRef, wanted: T): FunctionAddress {
    const key = `${type} ${name}`;
    const functionKey = `${key}\n${this.#keyOf(wanted)}`;
    const known = this.#addresses.get(functionKey);
    if (known !== undefined) return known;
    let field = this.#fieldIndexes.get(key);
    if (field === undefined) {
      field = this.fields.push({ field: name, type, functions: [] }) - 1;
      this.#fieldIndexes.set(key, field);
    }
    const address = { field, column: this.fields[field]!.functions.push(wanted) - 1 };
    this.#addresses.set(functionKey, address);
    return address;
  }
}

function callField(call: AggregateCall, plan: SelectPlan) {
  const input = call.input === undefined ? undefined : plan.inputs[call.input];
  return input?.kind === 'field' ? input : undefined;
}

/** The request to the source for one of the measurements. */
export function requestOf(
  source: MeasurementPlan,
  folded: FoldedCalls,
  plan: SelectPlan,
): MeasurementAggregates {
  const { request } = aggregateRequest(folded, new CallsPlan(plan));
  return { ...request, source: source.measurement };
}

/** Rows of a column with a value. */
export function validRows(column: Column, rowCount: number): Uint32Array | undefined {
  const { valid } = column;
  if (valid === undefined) return undefined;
  const rows = maskToRows(valid);
  return rows.length === rowCount ? undefined : rows;
}
