// A SELECT with functions that are calculated here: rows of the sources go into the leaves of their
// group.
import type { RowBatch } from '../batch/row-batch.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { LeavesPlan } from './group-leaves.ts';
import { OpenGroup } from './open-group.ts';
import { openRows } from './open-rows.ts';
import type { RunPlan } from './open-rows.ts';
import { OutsideEnd } from './outside-end.ts';
import type { RunContext } from './run-context.ts';
import type { ScanOptions } from './scan-measurement.ts';

/** Rows of the answer. */
export function* runReduced(
  plan: SelectPlan,
  run: RunContext,
  runPlan: RunPlan,
): Operator<RowBatch> {
  const leaves = new LeavesPlan(plan);
  const options: ScanOptions = { range: leaves.range, limitPerSeries: undefined };
  const ends = endsOutside(plan) ? new OutsideEnd(plan) : undefined;
  const open = new OpenGroup(leaves, run);
  for (const batch of openRows(plan, options, run, runPlan)) {
    if (isPause(batch)) {
      yield batch;
      continue;
    }
    const inside = ends === undefined ? batch : ends.apply(batch);
    yield* open.enter(inside.group);
    if (!open.leaves.isSatisfied) {
      yield* run.step('reduce', plan, open.leaves.pushRows(inside));
      yield* open.known();
    }
    if (ends?.isOver === true) break;
  }
  yield* open.finish();
}

/** Whether reading ends at a value outside of the range (`outside-end.ts`). */
function endsOutside({ interval, sources, leaves }: SelectPlan): boolean {
  return (
    interval === undefined &&
    sources.some((source) => source.kind === 'subquery') &&
    leaves.every((leaf) => leaf.reducer !== undefined)
  );
}
