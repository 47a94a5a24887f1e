// Merges runs of rows that are sorted by time into one sorted sequence.
import type { Column, FieldType, StringColumn } from '@tidemark/core';

import { concatColumns, takeInt64, takeRows } from '../batch/column-ops.ts';
import { mergeOrder } from './merge-order.ts';

/** Rows with times in the order of the query. */
export type Run = {
  readonly times: BigInt64Array;
  readonly columns: readonly Column[];
  /** Further rows of the series that the run before is of. */
  readonly isContinuation?: boolean | undefined;
};

export type MergeOptions = {
  readonly types: readonly FieldType[];
  readonly descending: boolean;
  /**
   * Equal times of different runs come in the recorded order; these columns of texts are compared for it. Without them
   * they come in the order of the runs.
   */
  readonly tieColumns?: readonly number[] | undefined;
};

/** All rows of all runs by time; `types` are the types of the columns. */
export function mergeRuns(runs: readonly Run[], options: MergeOptions): Run {
  const { types, descending, tieColumns } = options;
  const [only] = runs;
  if (runs.length === 1 && only !== undefined) return only;
  let length = 0;
  for (const run of runs) length += run.times.length;
  const times = new BigInt64Array(length);
  const bounds: number[] = [0];
  let at = 0;
  for (const run of runs) {
    times.set(run.times, at);
    at += run.times.length;
    if (run.isContinuation === true) bounds.pop();
    bounds.push(at);
  }
  const columns = types.map((type, i) =>
    concatColumns(
      type,
      runs.map((run) => run.columns[i]!),
    ),
  );
  const texts = tieColumns?.flatMap((index): StringColumn[] => {
    const column = columns[index];
    return column?.type === 'string' ? [column] : [];
  });
  const order = mergeOrder({ times, bounds, descending }, texts);
  if (order === undefined) return { times, columns };
  return {
    times: takeInt64(times, order),
    columns: columns.map((column) => takeRows(column, order)),
  };
}
