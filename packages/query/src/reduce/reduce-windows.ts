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
  yield* flatMapBatches(windows, (batch) => open.pushWindows(batch));
  yield* open.finish();
}
