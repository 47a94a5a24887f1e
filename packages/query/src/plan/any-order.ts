// Calls over a subquery whose results do not depend on the order of its rows: these need not be
// merged, so that windows of the subquery go from its groups into those of the query as they come.
import { MIN_TIME } from '@tidemark/core';
import { isSubquery } from '@tidemark/influxql';

import type { Interval } from '../analyse/dimensions.ts';
import { takesAnyOrder } from '../functions/reducers.ts';
import { keepsPointTime } from './calls-plan.ts';
import type { SelectPlan } from './select-plan.ts';
import { Windows } from './windows.ts';

/** Whether the calls of a plan over one subquery take its rows in any order. */
export function takeAnyOrder(plan: SelectPlan): boolean {
  const [source, ...others] = plan.sources;
  if (source === undefined || others.length > 0 || !isSubquery(source)) return false;
  if (source.plan.descending !== plan.descending) return false;
  const { interval } = source.plan;
  if (interval === undefined) return false;
  if (plan.interval !== undefined) {
    if (plan.interval.everyNanos < interval.everyNanos * LEAST_WINDOWS) return false;
    // Without windows, reading ends at the first row outside of the range.
  } else if (!staysInRange(source.plan, interval, plan)) return false;
  const auxiliary = plan.auxiliaryInputs.length > 0;
  const needs = { auxiliary, pointTime: keepsPointTime(plan) };
  return plan.calls.every(
    ({ reducer, inputType }) => reducer !== undefined && takesAnyOrder(reducer, inputType, needs),
  );
}

/**
 * With fewer windows of the subquery in one of the query, going back and forth between these costs
 * more than merging.
 */
const LEAST_WINDOWS = 8n;

/** Whether all rows of a subquery are windows that begin within the range of the query. */
function staysInRange(
  { zone, calls, range }: SelectPlan,
  interval: Interval,
  outer: SelectPlan,
): boolean {
  if (calls.some((call) => call.reducer === undefined || call.transformations.length > 0)) {
    return false;
  }
  if (range.start === MIN_TIME) return outer.range.start === MIN_TIME;
  return new Windows(interval, zone).of(range.start).start >= outer.range.start;
}
