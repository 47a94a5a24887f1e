// Executes a SELECT whose functions are calculated here: rows of the sources go into the calls of
// their group.
import type { RowBatch } from '../batch/row-batch.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { RowsPlan } from '../plan/physical-plan.ts';
import { CallsPlan } from '../plan/calls-plan.ts';
import { OpenGroup } from '../reduce/open-group.ts';
import { openRows } from '../scan/open-rows.ts';
import type { Execute } from '../scan/open-rows.ts';
import { endingInputs, OutsideEnd } from '../scan/outside-end.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import type { ScanOptions } from '../scan/scan-measurement.ts';

/** Rows of the answer. */
export function* runReduced(
  { select: plan, sources, endsOutside }: RowsPlan & { readonly kind: 'reduced' },
  execution: ExecutionContext,
  execute: Execute,
): Operator<RowBatch> {
  const calls = new CallsPlan(plan);
  const options: ScanOptions = { range: calls.range, limitPerSeries: undefined };
  const ending = endsOutside ? endingInputs(plan) : undefined;
  const ends = ending && new OutsideEnd(plan, ending.ofAll);
  const open = new OpenGroup(calls, execution);
  const opened = openRows({ select: plan, sources, options, ending }, execution, execute);
  const reduced = function* (batch: RowBatch): Operator<RowBatch> {
    const inside = ends === undefined ? batch : ends.apply(batch);
    yield* open.enter(inside.group);
    if (open.calls.isSatisfied) return;
    yield* execution.step('reduce', plan, open.calls.pushRows(inside));
    yield* open.known();
  };
  yield* flatMapBatches(opened, reduced, () => ends?.isOver === true);
  yield* open.finish();
}
