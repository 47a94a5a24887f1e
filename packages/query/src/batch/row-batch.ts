// Batches of rows between operators: one shared time column and one typed column per input.
import { compareBytes } from '@tidemark/core';
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

/** Rows `[from, to)`; the same object if these are all. */
export function sliceRows<C extends Column | undefined, R extends Rows<C>>(
  rows: R & Rows<C>,
  from: number,
  to: number,
): R {
  if (from === 0 && to === rows.times.length) return rows;
  return {
    ...rows,
    times: rows.times.subarray(from, to),
    columns: rows.columns.map((column) => column && sliceColumn(column, from, to)),
  };
}

type Rows<C> = { readonly times: BigInt64Array; readonly columns: readonly C[] };

/** The order of groups: by name, then by tag values, bytewise. */
export function compareGroups(a: GroupKey, b: GroupKey): number {
  let order = compareBytes(a.name, b.name);
  for (let i = 0; order === 0 && i < a.tags.length; i++) {
    order = compareBytes(a.tags[i]!, b.tags[i]!);
  }
  return order;
}
