// Cuts a large scan into slices of time with about equally many rows, according to counts and
// bounds.
import type { TimeRange } from '@tidemark/core';

import { requestOptions } from '../look-up.ts';
import { MAX_TIME_SLICES } from '../limits.ts';
import type { MeasurementPlan, SelectPlan } from '../plan/select-plan.ts';
import type { AggregateRequest, FieldAggregates } from '../series-source.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { onlyTags } from '../predicate.ts';
import { forEachBatch } from '../operator.ts';
import type { Steps } from '../operator.ts';

export type SliceOptions = {
  readonly source: MeasurementPlan;
  readonly plan: SelectPlan;
  /**
   * Rows of the first slice. Each further one is twice as large as the previous one, within the
   * limit.
   */
  readonly firstRows: number;
  /** Rows of which a slice has half at most: rows are rarely spread evenly. */
  readonly most: number;
};

/** Slices that cover all rows of a range, in the order of the query. Neighbours do not overlap. */
export function* timeSlices(
  { source, plan, firstRows, most: mostRows }: SliceOptions,
  range: TimeRange,
  execution: ExecutionContext,
): Steps<readonly TimeRange[]> {
  const extent = yield* extentOf(source, plan, range, execution);
  if (extent === undefined) return [range];
  const { first, last, rows } = extent;
  const most = Math.max(mostRows / 2, rows / MAX_TIME_SLICES);
  const span = last - first;
  const slices: TimeRange[] = [];
  let begin = 0n;
  for (let wanted = Math.min(firstRows / 2, most); begin <= span;) {
    const width = (span * BigInt(Math.round(wanted))) / BigInt(rows) + 1n;
    const end = begin + width > span ? span : begin + width - 1n;
    slices.push(
      plan.descending
        ? { start: last - end, end: last - begin }
        : { start: first + begin, end: first + end },
    );
    begin = end + 1n;
    wanted = Math.min(wanted * 2, most);
  }
  return slices;
}

type Extent = { readonly first: bigint; readonly last: bigint; readonly rows: number };

/** First and last time and number of rows, which sources know from their statistics. */
function* extentOf(
  source: MeasurementPlan,
  plan: SelectPlan,
  range: TimeRange,
  execution: ExecutionContext,
): Steps<Extent | undefined> {
  const { query } = execution;
  const { aggregateFunctions } = query.capabilities;
  const functions = ['first', 'last', 'count'] as const;
  if (!functions.every((name) => aggregateFunctions.has(name))) return undefined;
  const aggregates: FieldAggregates[] = [];
  for (const input of plan.inputs.slice(0, plan.selectedInputCount)) {
    if (input.kind === 'field') aggregates.push({ field: input.name, type: input.type, functions });
  }
  const { pushed } = plan.condition;
  const request: AggregateRequest = {
    sources: [source.measurement],
    timeRange: range,
    where: onlyTags(pushed),
    descending: false,
    groupBy: [],
    aggregates,
  };
  let extent: Extent | undefined;
  const bounds = execution.read('measure slices of', source, {
    from: query.snapshot.aggregate(request, requestOptions(query)),
    rowsOf: (batch) => batch.windowStarts.length,
  });
  yield* forEachBatch(bounds, (batch) => {
    for (const [first, last, count] of batch.fields) {
      if (first === undefined || last === undefined || count?.values.type !== 'integer') continue;
      for (let row = 0; row < batch.windowStarts.length; row++) {
        if (count.values.valid?.[row] === 0 || count.values.values[row] === 0n) continue;
        extent = widened(extent, {
          first: first.pointTimes?.[row] ?? range.start,
          last: last.pointTimes?.[row] ?? range.end,
          rows: Number(count.values.values[row]),
        });
      }
    }
  });
  return extent;
}

function widened(a: Extent | undefined, b: Extent): Extent {
  if (a === undefined) return b;
  return {
    first: a.first < b.first ? a.first : b.first,
    last: a.last > b.last ? a.last : b.last,
    rows: Math.max(a.rows, b.rows),
  };
}
