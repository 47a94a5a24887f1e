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
import { endingInputs, StopOutOfRange } from '../scan/stop-out-of-range.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import type { ScanOptions } from '../scan/scan-measurement.ts';

/** Rows of the answer. */
export function* runReduced(
  { select: plan, sources, stopsOutOfRange, ranked }: RowsPlan & { readonly kind: 'reduced' },
  execution: ExecutionContext,
  execute: Execute,
): Operator<RowBatch> {
  const calls = new CallsPlan(plan);
  const { maxSelectPoints, maxSelectSeries } = execution.query.limits;
  const countsAll = maxSelectPoints > 0 || maxSelectSeries > 0;
  const options: ScanOptions = {
    range: calls.range,
    limitPerSeries: undefined,
    ranked: countsAll ? undefined : ranked,
  };
  const ending = stopsOutOfRange ? endingInputs(plan) : undefined;
  const ends = ending && new StopOutOfRange(plan, ending.ofAll);
  const open = new OpenGroup(calls, execution);
  const opened = openRows({ select: plan, sources, options, ending }, execution, execute);
  yield* flatMapBatches(
    opened,
    (batch) => open.pushRows(ends === undefined ? batch : ends.apply(batch)),
    () => ends?.isOver === true,
  );
  yield* open.finish();
}
