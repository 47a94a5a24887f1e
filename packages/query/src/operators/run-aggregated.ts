// A SELECT whose functions the source calculates: its windows become rows, group by group.
import type { RowBatch } from '../batch/row-batch.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import type { AggregatedGroup, AggregateOptions } from './aggregate-measurement.ts';
import { aggregateMeasurement } from './aggregate-measurement.ts';
import { LeavesPlan } from './group-leaves.ts';
import { OpenGroup } from './open-group.ts';
import { inNameOrder } from './open-rows.ts';
import type { RunContext } from './run-context.ts';
import { WholeGroups } from './whole-group.ts';

/** Rows of the answer. */
export function* runAggregated(plan: SelectPlan, run: RunContext): Operator<RowBatch> {
  const leaves = new LeavesPlan(plan);
  const whole = new WholeGroups(leaves);
  const open = new OpenGroup(leaves, run);
  /** The first batch of a group, while it is the only one. */
  let first: AggregatedGroup | undefined;
  for (const batch of aggregatedGroups(leaves, run)) {
    if (isPause(batch)) {
      yield batch;
      continue;
    }
    if (first !== undefined) {
      const rows = first.group === batch.group ? undefined : whole.rows(first);
      if (rows === undefined) yield* pushed(first, open);
      else yield rows;
      first = undefined;
    }
    if (!whole.arePossible || open.isIn(batch.group)) {
      yield* pushed(batch, open);
    } else {
      yield* open.finish();
      first = batch;
    }
  }
  const rows = first && whole.rows(first);
  if (rows !== undefined) yield rows;
  else if (first !== undefined) yield* pushed(first, open);
  yield* open.finish();
}

function* pushed(batch: AggregatedGroup, open: OpenGroup): Operator<RowBatch> {
  yield* open.enter(batch.group);
  if (open.leaves.isSatisfied) return;
  open.leaves.pushAggregates(batch);
  yield* open.known();
}

/** Windows of all measurements, in the order of the answer. */
function* aggregatedGroups(leaves: LeavesPlan, run: RunContext): Operator<AggregatedGroup> {
  const { plan, range } = leaves;
  const { interval } = plan;
  // Leaves are limited each for itself: one may need windows in which the others have no point.
  const canLimit =
    plan.limit > 0 &&
    interval !== undefined &&
    plan.leaves.every((leaf) => leaf.input === plan.leaves[0]?.input) &&
    plan.leaves.every((leaf) => leaf.transformations.length === 0);
  const options: AggregateOptions = {
    range,
    window: interval && { everyNanos: interval.everyNanos, offsetNanos: interval.offsetNanos },
    // One window more than is answered, because linear fill looks at the next one.
    omitsPointTimes: !leaves.keepsPointTime,
    limitWindows: canLimit ? plan.limit + plan.offset + 1 : undefined,
  };
  for (const source of inNameOrder(plan)) {
    if (source.kind === 'measurement') yield* aggregateMeasurement(source, plan, options, run);
  }
}
