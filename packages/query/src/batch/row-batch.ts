// Batches of rows between operators: one shared time column and one typed column per input.
import type { Column } from '@tidemark/core';

import { sliceColumn } from './column-ops.ts';

/**
 * The result series that rows belong to: a name and one value per dimension of the query, missing
 * tags empty.
 */
export type GroupKey = {
  readonly name: string;
  /** One per dimension, in the order of the plan's `dimensions`. */
  readonly tags: readonly string[];
  /** The series itself, where each is a group (`scan-series.ts`). */
  readonly series?: { readonly key: string; readonly tags: ReadonlyMap<string, string> };
};

/**
 * Rows of one group. All batches of a group follow each other and share one `group` object; a new
 * object is a new group. Within a group rows are in the time order of the query unless the producer
 * says otherwise.
 */
export type RowBatch = {
  readonly group: GroupKey;
  readonly times: BigInt64Array;
  readonly columns: readonly Column[];
};

/** Rows `[from, to)` of a batch. */
export function sliceRows({ group, times, columns }: RowBatch, from: number, to: number): RowBatch {
  return {
    group,
    times: times.subarray(from, to),
    columns: columns.map((column) => sliceColumn(column, from, to)),
  };
}
