// Merges lists of rows that are sorted by time into one sorted sequence.
import type { Column, FieldType } from '@tidemark/core';
import { mergeOrder } from '@tidemark/kernels';
import type { RowOrder, SortedRuns, TieOrder } from '@tidemark/kernels';

import { concatColumns, concatTimes } from '../batch/column-ops.ts';
import { queryKernels } from '../kernels.ts';
import type { Steps } from '../operator.ts';

/** Rows with times in the order of the query. */
export type SortedRows = {
  readonly times: BigInt64Array;
  readonly columns: readonly Column[];
};

export type MergeOptions = {
  readonly types: readonly FieldType[];
  readonly descending: boolean;
};

/**
 * All rows of all parts by time, equal ones in the order of the parts; `types` are the types of the
 * columns.
 */
export function* mergeSortedRows(
  parts: readonly SortedRows[],
  options: MergeOptions,
): Steps<SortedRows> {
  const { types, descending } = options;
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const times = concatTimes(parts.map((part) => part.times));
  const bounds: number[] = [0];
  let end = 0;
  for (const part of parts) bounds.push((end += part.times.length));
  const columns: Column[] = [];
  for (const [i, type] of types.entries()) {
    yield;
    columns.push(
      concatColumns(
        type,
        parts.map((part) => part.columns[i]!),
      ),
    );
  }
  const inTurn = Uint32Array.from(parts, (_, i) => i);
  return yield* inOrder(
    { times, columns },
    { bounds, descending },
    {
      kind: 'runs',
      runs: inTurn,
    },
  );
}

export type SortedBounds = Pick<SortedRuns, 'bounds' | 'descending'>;

/** The rows of parts that lie one behind the other, by time. */
export function* inOrder(
  rows: SortedRows,
  { bounds, descending }: SortedBounds,
  ties: TieOrder,
): Steps<SortedRows> {
  const { times, columns } = rows;
  const order = yield* mergeOrder(queryKernels(), { times, bounds, descending }, ties);
  if (order === undefined) return rows;
  try {
    const taken: Column[] = [];
    /** Columns of tags share the codes of their series. */
    const codesTaken = new Map<Uint32Array, Uint32Array>();
    for (const column of columns) {
      yield;
      taken.push(takeInOrder(column, order, codesTaken));
    }
    return { times: order.take(times), columns: taken };
  } finally {
    order.close();
  }
}

function takeInOrder(
  column: Column,
  order: RowOrder,
  codesTaken: Map<Uint32Array, Uint32Array>,
): Column {
  const valid = column.valid === undefined ? undefined : order.take(column.valid);
  switch (column.type) {
    case 'float':
      return { type: 'float', values: order.take(column.values), valid };
    case 'integer':
      return { type: 'integer', values: order.take(column.values), valid };
    case 'unsigned':
      return { type: 'unsigned', values: order.take(column.values), valid };
    case 'boolean':
      return { type: 'boolean', values: order.take(column.values), valid };
    case 'string': {
      let codes = codesTaken.get(column.codes);
      if (codes === undefined) {
        codes = order.take(column.codes);
        codesTaken.set(column.codes, codes);
      }
      return { type: 'string', codes, dictionary: column.dictionary, valid };
    }
  }
}
