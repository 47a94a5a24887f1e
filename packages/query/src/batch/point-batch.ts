// What flows behind a reduction: points of one call in one group.
import type { Column } from '@tidemark/core';

/**
 * Points of one call. `columns[0]` is the value, null for an empty window; the others are the
 * auxiliary inputs of the selected point.
 */
export type PointBatch = { readonly times: BigInt64Array; readonly columns: readonly Column[] };
