// Merges lists of rows that are sorted by time into one sorted sequence.
import type { Column, FieldType } from '@tidemark/core';
import { mergeOrder } from '@tidemark/kernels';
import type { RowOrder, SortedRuns, TieOrder } from '@tidemark/kernels';

import { columnOf, valuesOf } from '../batch/column-values.ts';
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
  const columns = types.map((type, i): ColumnParts => ({
    type,
    parts: parts.map((part) => part.columns[i]!),
  }));
  const partOrder = Uint32Array.from(parts, (_, i) => i);
  return yield* inOrder(
    { times, columns },
    { bounds, descending },
    {
      kind: 'runs',
      runs: partOrder,
    },
  );
}

/** A column whose rows lie in parts. Those of another type are null. */
export type ColumnParts = { readonly type: FieldType; readonly parts: readonly Column[] };

export type SortedBounds = Pick<SortedRuns, 'bounds' | 'descending'>;

/** The rows of parts that lie one after another, by time. */
export function* inOrder(
  { times, columns }: { readonly times: BigInt64Array; readonly columns: readonly ColumnParts[] },
  { bounds, descending }: SortedBounds,
  ties: TieOrder,
): Steps<SortedRows> {
  const order = yield* mergeOrder(queryKernels(), { times, bounds, descending }, ties);
  try {
    const merged: Column[] = [];
    /** Columns of tags share the codes of their series. */
    const codesTaken = new Map<Uint32Array, Uint32Array>();
    for (const { type, parts } of columns) {
      yield;
      if (order === undefined) merged.push(concatColumns(type, parts));
      else merged.push(takeNumbers(type, parts, order) ?? takeAny(type, parts, order, codesTaken));
    }
    return { times: order?.take([times]) ?? times, columns: merged };
  } finally {
    order?.close();
  }
}

/**
 * Numbers without nulls are written directly to their final position, without being concatenated
 * first: that was much of the garbage of a large result. `undefined` for anything else.
 */
function takeNumbers(
  type: FieldType,
  parts: readonly Column[],
  order: RowOrder,
): Column | undefined {
  if (type === 'string' || type === 'boolean') return undefined;
  if (parts.some((part) => part.type !== type || part.valid !== undefined)) return undefined;
  return columnOf(type, order.take(parts.map(valuesOf)), { valid: undefined });
}

function takeAny(
  type: FieldType,
  parts: readonly Column[],
  order: RowOrder,
  codesTaken: Map<Uint32Array, Uint32Array>,
): Column {
  const column = concatColumns(type, parts);
  const valid = column.valid === undefined ? undefined : order.take([column.valid]);
  if (column.type !== 'string') return columnOf(type, order.take([column.values]), { valid });
  let codes = codesTaken.get(column.codes);
  if (codes === undefined) {
    codes = order.take([column.codes]);
    codesTaken.set(column.codes, codes);
  }
  return { type: 'string', codes, texts: column.texts, valid };
}
