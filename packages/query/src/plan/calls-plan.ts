// The decisions about a plan's calls that are the same for every group.
import { isSubquery } from '@tidemark/influxql';
import type { FieldType, TimeRange } from '@tidemark/core';
import { MIN_TIME } from '@tidemark/core';

import type { AggregateCall } from '../analyse/columns.ts';
import type { SeriesMerge } from '../functions/first-last.ts';
import { foldOf, reducerRow } from '../functions/reducers.ts';
import type { Fold } from '../functions/reducers.ts';
import { comparedInputs } from './compared-inputs.ts';
import { mostPrefetched, rangeBefore, widenedRange } from './prefetch.ts';
import type { SelectPlan } from './select-plan.ts';
import { Windows } from './windows.ts';

/** Whether the points of a call keep their own times in windows too. */
export function hasPointTimes(call: AggregateCall): boolean {
  return call.reducer !== undefined && reducerRow(call.reducer).pointTime === 'always';
}

/** How `first` and `last` choose among rows of one time; absent if there is no choice. */
export function seriesMerge(plan: SelectPlan): SeriesMerge | undefined {
  const { seriesInput, auxiliaryInputs, inputs, sources } = plan;
  if (seriesInput === undefined) return undefined;
  return {
    input: seriesInput,
    compared: comparedInputs(inputs, auxiliaryInputs),
    shardOf: (source, time) => {
      const from = sources[source];
      const shards = from === undefined || isSubquery(from) ? [] : from.shards;
      // A source without snapshots may have a shard by now that the plan lacks.
      const shard = shards.find(({ start, end }) => time >= start && time < end);
      return shard ?? { start: time, end: time + 1n };
    },
  };
}

/** Whether a window of a call may have any number of points. */
export function mayHaveManyPoints({ reducer }: AggregateCall): boolean {
  return reducer !== undefined && reducerRow(reducer).fill === 'never';
}

/** Whether the result has the time of its point: that of a lone selector without windows. */
export function keepsPointTime({ interval, calls }: SelectPlan): boolean {
  const [only] = calls;
  return (
    interval === undefined &&
    calls.length === 1 &&
    only?.reducer !== undefined &&
    reducerRow(only.reducer).pointTime === 'alone'
  );
}

/**
 * What the source can reduce the windows of a call to; `undefined` for a call without a reducer.
 */
export function foldOfCall(call: AggregateCall, plan: SelectPlan): Fold | undefined {
  if (call.reducer === undefined) return undefined;
  const { reducer } = call;
  const tags = 'distinctInputs' in reducer ? reducer.distinctInputs : [];
  return foldOf(reducer, {
    auxiliary: plan.auxiliaryInputs.length > 0,
    distinguishesTags: tags.every((tag) => plan.inputs[tag]?.kind === 'tag'),
    pointTime: keepsPointTime(plan),
  });
}

export class CallsPlan {
  readonly plan: SelectPlan;
  readonly windows: Windows | undefined;
  /** Stamp of results that belong to neither a point nor a window. */
  readonly wholeStamp: bigint;
  /** The side of the range that points come from: stamp of an integral of integers. */
  readonly nearestStamp: bigint;
  /** The result of a lone selector without windows has the time of its point. */
  readonly keepsPointTime: boolean;
  readonly types: readonly FieldType[];
  readonly auxiliary: readonly { readonly input: number; readonly type: FieldType }[];

  constructor(plan: SelectPlan) {
    this.plan = plan;
    this.windows = plan.interval === undefined ? undefined : new Windows(plan.interval, plan.zone);
    this.wholeStamp = plan.range.start === MIN_TIME ? 0n : plan.range.start;
    this.nearestStamp = plan.descending ? plan.range.end + 1n : this.wholeStamp;
    this.keepsPointTime = keepsPointTime(plan);
    this.auxiliary = plan.auxiliaryInputs.map((input) => {
      const wanted = plan.inputs[input]!;
      return { input, type: wanted.kind === 'field' ? wanted.type : ('string' as const) };
    });
    this.types = [...plan.calls.map((call) => call.type), ...this.auxiliary.map((a) => a.type)];
  }

  /** The range of a call: transformations of windows look back before the query's own. */
  rangeOf(call: AggregateCall): TimeRange {
    return rangeBefore(this.plan, call.prefetchWindows);
  }

  /**
   * Times of the rows that a call takes: those of subqueries have the times of windows, of which
   * the first may begin before the range (recorded).
   */
  rowRangeOf(call: AggregateCall): TimeRange {
    const range = this.rangeOf(call);
    if (this.windows === undefined || range.start === MIN_TIME) return range;
    if (!this.plan.sources.every(isSubquery)) return range;
    return { start: this.windows.of(range.start).start, end: range.end };
  }

  /**
   * The range whose windows fill() makes for a call: in a subquery, including those before the
   * readable range.
   */
  filledRangeOf(call: AggregateCall): TimeRange {
    return widenedRange(this.plan, call.prefetchWindows);
  }

  /** The range that covers some calls, all of them by default. */
  rangeOfAll(calls = this.plan.calls): TimeRange {
    return rangeBefore(this.plan, mostPrefetched(calls));
  }
}
