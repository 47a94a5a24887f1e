// Batches after a reduction: points of one call in one group, then those of all calls side by side.
import type { Column } from '@tidemark/core';

/**
 * Points of one call. `columns[0]` is the value, null for an empty window; the others are the
 * auxiliary inputs of the selected point.
 */
export type PointBatch = { readonly times: BigInt64Array; readonly columns: readonly Column[] };

/**
 * Rows over all calls; columns are the calls' values, then the auxiliary columns of the only
 * call.
 */
export type AlignedRows = { readonly times: BigInt64Array; readonly columns: readonly Column[] };
