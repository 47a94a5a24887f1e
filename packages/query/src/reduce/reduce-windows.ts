// Passes windows that the source has reduced to the calls of their group.
import type { RowBatch } from '../batch/row-batch.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { AggregatedGroup } from '../scan/aggregate-measurement.ts';
import type { OpenGroup } from './open-group.ts';

/** Rows of the answer: filled, transformed, the calls of a group joined. */
export function* reduceWindows(
  windows: Operator<AggregatedGroup>,
  open: OpenGroup,
): Operator<RowBatch> {
  yield* flatMapBatches(windows, (batch) => pushWindows(batch, open));
  yield* open.finish();
}

/**
 * The rows that some windows complete; first those of the previous group if the windows are of
 * another one.
 */
export function* pushWindows(batch: AggregatedGroup, open: OpenGroup): Operator<RowBatch> {
  yield* open.enter(batch.group);
  if (open.calls.isSatisfied) return;
  open.calls.pushAggregates(batch);
  yield* open.readyRows();
}
