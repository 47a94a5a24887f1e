// Cuts a large scan into slices of time that fit into memory, according to counts and bounds and to
// what was found in earlier slices.
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
  readonly range: TimeRange;
  /** Rows of the first slice; rows that do not meet the condition count, too. */
  readonly firstRows: number;
};

/** Part of what fits that a slice shall have: rows are rarely spread evenly. */
const WANTED_SHARE = 0.5;
/** The width of a slice is at most, and at least, so many times that of the previous one. */
const WIDENED_MOST = 2;
const NARROWED_MOST = 0.25;

export type TimeSlice = {
  readonly range: TimeRange;
  /** It is the only one: it cannot be cut. */
  readonly isWhole: boolean;
};

/**
 * Slices that cover all rows of a range, in the order of the query. Neighbours do not overlap. The
 * first is as wide as an even distribution suggests, each further one as what was found in the
 * previous one suggests: of rows that a condition leaves out, nothing is held.
 */
export class TimeSlices {
  readonly #range: TimeRange;
  readonly #isDescending: boolean;
  readonly #extent: Extent | undefined;
  /** Rows of the next slice. */
  #rows: number;
  /** Distance of the next slice from the beginning; `undefined` behind the last one. */
  #begin: bigint | undefined = 0n;

  private constructor({ range, plan, firstRows }: SliceOptions, extent: Extent | undefined) {
    this.#range = range;
    this.#isDescending = plan.descending;
    this.#extent = extent;
    this.#rows = firstRows * WANTED_SHARE;
  }

  static *of(options: SliceOptions, execution: ExecutionContext): Steps<TimeSlices> {
    return new TimeSlices(options, yield* extentOf(options, execution));
  }

  /** The next slice; `undefined` behind the last one. */
  next(): TimeSlice | undefined {
    const begin = this.#begin;
    if (begin === undefined) return undefined;
    if (this.#extent === undefined) {
      this.#begin = undefined;
      return { range: this.#range, isWhole: true };
    }
    const { first, last, rows } = this.#extent;
    const span = last - first;
    const ofSlice = Math.max(this.#rows, rows / MAX_TIME_SLICES);
    const width = (span * BigInt(Math.round(ofSlice))) / BigInt(rows) + 1n;
    const isLast = begin + width > span;
    const end = isLast ? span : begin + width - 1n;
    this.#begin = isLast ? undefined : end + 1n;
    const range = this.#isDescending
      ? { start: last - end, end: last - begin }
      : { start: first + begin, end: first + end };
    return { range, isWhole: isLast && begin === 0n };
  }

  /** The part of what fits that the last slice had; more than 1 if it had to be cut again. */
  found(share: number): void {
    const times = share === 0 ? WIDENED_MOST : WANTED_SHARE / share;
    this.#rows *= Math.min(WIDENED_MOST, Math.max(NARROWED_MOST, times));
  }
}

type Extent = { readonly first: bigint; readonly last: bigint; readonly rows: number };

/** First and last time and number of rows, which sources know from their statistics. */
function* extentOf(
  { source, plan, range }: SliceOptions,
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
