// A SELECT with functions that are calculated here: rows of the sources go into the leaves of their
// group.
import type { RowBatch } from '../batch/row-batch.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { RowsPlan } from '../plan/physical-plan.ts';
import { LeavesPlan } from './group-leaves.ts';
import { OpenGroup } from './open-group.ts';
import { openRows } from '../scan/open-rows.ts';
import type { Execute } from '../scan/open-rows.ts';
import { OutsideEnd } from '../scan/outside-end.ts';
import type { RunContext } from '../execute/run-context.ts';
import type { ScanOptions } from '../scan/scan-measurement.ts';

/** Rows of the answer. */
export function* runReduced(
  { select: plan, sources, endsOutside }: RowsPlan & { readonly kind: 'reduced' },
  run: RunContext,
  execute: Execute,
): Operator<RowBatch> {
  const leaves = new LeavesPlan(plan);
  const options: ScanOptions = { range: leaves.range, limitPerSeries: undefined };
  const ends = endsOutside ? new OutsideEnd(plan) : undefined;
  const open = new OpenGroup(leaves, run);
  for (const batch of openRows({ select: plan, sources, options }, run, execute)) {
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
