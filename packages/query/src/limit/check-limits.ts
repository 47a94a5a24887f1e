// Checks limits of a plan that are known before anything is read.
import { measurementsIn } from '@tidemark/influxql';
import { MAX_TIME, MIN_TIME } from '@tidemark/core';

import { checkLimit } from '../limits.ts';
import { lookUp } from '../look-up.ts';
import { forEachBatch } from '../operator.ts';
import type { Steps } from '../operator.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { CallsPlan } from '../plan/calls-plan.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { onlyTags } from '../predicate.ts';

/** Throws `LimitExceeded` when the plan is over one of them. */
export function* checkLimits(plan: SelectPlan, execution: ExecutionContext): Steps<void> {
  checkBuckets(plan, execution);
  yield* checkSeries(plan, execution);
}

function checkBuckets(plan: SelectPlan, execution: ExecutionContext): void {
  const { maxSelectBuckets, maxFilledWindows } = execution.query.limits;
  const count = windowCount(plan);
  if (count === undefined) return;
  checkLimit('max-select-buckets', count, maxSelectBuckets);
  if (plan.fill.kind === 'none') return;
  // Filling ends with the last row of the answer; windows that transformations leave out are
  // counted while they are filled.
  const answered = plan.limit === 0 ? count : BigInt(plan.limit + plan.offset);
  checkLimit('max-filled-windows', answered < count ? answered : count, maxFilledWindows);
}

/**
 * Windows of the range, whether there are points in them or not; `undefined` where it has no
 * bounds.
 */
function windowCount(plan: SelectPlan): bigint | undefined {
  if (plan.interval === undefined) return undefined;
  const { start, end } = plan.range;
  if (start === MIN_TIME || end === MAX_TIME || end < start) return undefined;
  const { windows } = new CallsPlan(plan);
  if (windows === undefined) return undefined;
  return (windows.of(end).start - windows.of(start).start) / windows.everyNanos + 1n;
}

/** Counts the series that will be read, when there is a limit, before anything is read. */
function* checkSeries(plan: SelectPlan, execution: ExecutionContext): Steps<void> {
  const { query } = execution;
  if (query.limits.maxSelectSeries === 0) return;
  for (const source of measurementsIn(plan.sources)) {
    const { pushed } = plan.condition;
    const filter = {
      database: source.measurement.database,
      retentionPolicy: source.measurement.retentionPolicy,
      measurements: [source.measurement.measurement],
      where: onlyTags(pushed),
      timeRange: plan.range,
    };
    yield* forEachBatch(lookUp(query, 'series', { filter }), ({ keys }) => {
      for (const key of keys) execution.countSeries(key);
    });
  }
}
