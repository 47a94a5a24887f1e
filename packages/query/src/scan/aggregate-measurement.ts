// Calls that the source reduces itself: windowed partial aggregates instead of rows.
import type { Column, FieldType } from '@tidemark/core';

import type { GroupKey } from '../batch/row-batch.ts';
import { maskToRows, nullColumn } from '../batch/column-ops.ts';
import type { AggregateCall } from '../analyse/columns.ts';
import { pushedFunction } from '../functions/reducers.ts';
import type { CallsPlan } from '../plan/calls-plan.ts';
import type { RowsPlan } from '../plan/physical-plan.ts';
import type { MeasurementPlan, SelectPlan } from '../plan/select-plan.ts';
import type {
  AggregateBatch,
  AggregateColumn,
  AggregateFunction,
  AggregateRequest,
} from '../series-source.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { groupOf } from './group-ends.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

/** Reduced points of some windows of one group: for each call the windows that have a point. */
export type AggregatedGroup = {
  readonly group: GroupKey;
  readonly windowStarts: BigInt64Array;
  /** One per call of the plan. */
  readonly calls: readonly AggregateColumn[];
};

export type AggregatedPlan = RowsPlan & { readonly kind: 'aggregated' };

/** Maximum number of measurements per request. */
const SOURCES_AT_ONCE = 4096;

/**
 * Aggregates of measurements, in the order of the answer. Batches of one group share the group
 * object.
 */
export function* aggregateMeasurements(
  rows: AggregatedPlan,
  calls: CallsPlan,
  execution: ExecutionContext,
): Operator<AggregatedGroup> {
  for (let at = 0; at < rows.sources.length; at += SOURCES_AT_ONCE) {
    const sources = rows.sources.slice(at, at + SOURCES_AT_ONCE);
    yield* aggregateTogether({ ...rows, sources }, calls, execution);
  }
}

function* aggregateTogether(
  rows: AggregatedPlan,
  calls: CallsPlan,
  execution: ExecutionContext,
): Operator<AggregatedGroup> {
  const { sources, select: plan } = rows;
  const { request, addresses } = aggregateRequest(rows, calls);
  if (request.aggregates.length === 0) return;
  const { query } = execution;
  const options = execution.countingOptions();
  const measurements = sources.map(({ measurement }) => measurement);
  const label = sources.length > 1 ? `aggregate ${sources.length} measurements from` : 'aggregate';
  const reduced = execution.read(label, sources[0]!, {
    from: query.snapshot.aggregate({ ...request, sources: measurements }, options),
    rowsOf: (batch) => batch.windowStarts.length,
  });
  const groups = new AggregatedGroups({ sources, plan, addresses });
  yield* flatMapBatches(reduced, (batch) => {
    execution.checkRowsRead(options.counters);
    return groups.of(batch);
  });
}

type Aggregated = {
  readonly sources: readonly MeasurementPlan[];
  readonly plan: SelectPlan;
  readonly addresses: readonly (ColumnAddress | undefined)[];
};

class AggregatedGroups {
  readonly #aggregated: Aggregated;
  #group: GroupKey | undefined;

  constructor(aggregated: Aggregated) {
    this.#aggregated = aggregated;
  }

  *of({ source = 0, windowStarts, groupTags, fields }: AggregateBatch): Operator<AggregatedGroup> {
    yield;
    const { sources, plan, addresses } = this.#aggregated;
    const name = sources[source]!.measurement.measurement;
    const tags = plan.dimensions.map((key) => groupTags.get(key) ?? '');
    this.#group = groupOf(this.#group, name, tags);
    const calls = addresses.map((address): AggregateColumn =>
      address === undefined
        ? { values: nullColumn('float', windowStarts.length) }
        : fields[address.field]![address.column]!,
    );
    yield { group: this.#group, windowStarts, calls };
  }
}

type ColumnAddress = { readonly field: number; readonly column: number };

/**
 * One entry per field with all its requested functions, so that the source reads each field once.
 */
export function aggregateRequest(
  { select: plan, limitWindows }: AggregatedPlan,
  { range, keepsPointTime }: CallsPlan,
): {
  readonly request: Omit<AggregateRequest, 'sources'>;
  readonly addresses: readonly (ColumnAddress | undefined)[];
} {
  const fields: { field: string; type: FieldType; functions: AggregateFunction[] }[] = [];
  const fieldIndexes = new Map<string, number>();
  const addresses = plan.calls.map((call): ColumnAddress | undefined => {
    const input = callField(call, plan);
    const wanted = call.reducer && pushedFunction(call.reducer);
    if (input === undefined || wanted === undefined) return undefined;
    const key = `${input.type} ${input.name}`;
    let at = fieldIndexes.get(key);
    if (at === undefined) {
      at = fields.push({ field: input.name, type: input.type, functions: [] }) - 1;
      fieldIndexes.set(key, at);
    }
    const { functions } = fields[at]!;
    let column = functions.indexOf(wanted);
    if (column < 0) column = functions.push(wanted) - 1;
    return { field: at, column };
  });
  return {
    addresses,
    request: {
      timeRange: range,
      where: plan.condition.pushed,
      descending: plan.descending,
      groupBy: plan.dimensions,
      aggregates: fields,
      window: plan.interval,
      limitWindows,
      picksTiedByKey: plan.seriesInput !== undefined,
      omitsPointTimes: !keepsPointTime,
    },
  };
}

function callField(call: AggregateCall, plan: SelectPlan) {
  const input = call.input === undefined ? undefined : plan.inputs[call.input];
  return input?.kind === 'field' ? input : undefined;
}

/** Rows of a column with a value. */
export function validRows(column: Column, rowCount: number): Uint32Array | undefined {
  const { valid } = column;
  if (valid === undefined) return undefined;
  const rows = maskToRows(valid);
  return rows.length === rowCount ? undefined : rows;
}
