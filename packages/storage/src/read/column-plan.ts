// How windows get what they want of a chunk: decided from its directory entry, column by column,
// before anything of it is read.
import type { FieldType } from '@tidemark/core';
import { CACHED_ROWS_MAX } from '@tidemark/kernels';

import type { ColumnMeta } from '../segment/format.ts';
import { areFew } from '../segment/valid-rows.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { converts } from './convert.ts';
import { windowOf } from './windows.ts';
import type { WindowsRequest } from './windows.ts';

/** What is read of a column, the least first. */
export type ColumnUse =
  /** Nothing: the chunk lacks the field, or its values do not convert to the wanted type. */
  | 'none'
  /** The directory entry tells all that is wanted. */
  | 'entry'
  /** The column in the cache, or the times there if only the number of its values is wanted. */
  | 'cached'
  /** The values that there are, with their rows. */
  | 'few'
  /** The values of the wanted rows, as decoded columns. */
  | 'values';

/** What the windows of a field want. */
export type ColumnWants = {
  readonly type: FieldType;
  /** Only the number of values. */
  readonly countsOnly: boolean;
  /** Values are taken as columns, never in the kernel's cache. */
  readonly takesColumns?: boolean;
  /** Whether the entry of a column suffices, where all of its values are in one window. */
  readonly isToldBy: (column: ColumnMeta, stored: FieldType) => boolean;
};

/** The use of a column. Rows with `isInOneWindow` are all rows of their chunk. */
export function planColumn(
  chunk: Pick<ChunkReader, 'columns' | 'meta' | 'type'>,
  index: number,
  wants: ColumnWants & { readonly isInOneWindow: boolean },
): ColumnUse {
  const { type, countsOnly, takesColumns = false, isToldBy, isInOneWindow } = wants;
  const column = chunk.columns[index];
  const stored = chunk.type(index);
  if (column === undefined || stored === undefined || !converts(stored, type)) return 'none';
  if (isInOneWindow && isToldBy(column, stored)) return 'entry';
  const { rows } = chunk.meta;
  if (column.validBytes === 0) {
    if (takesColumns) return 'values';
    const isCacheable = countsOnly || (stored === type && stored !== 'string');
    return isCacheable && rows <= CACHED_ROWS_MAX ? 'cached' : 'values';
  }
  return stored !== 'string' && areFew(column.count, rows) ? 'few' : 'values';
}

/** Start of the window that has all rows of the chunk, if these are all wanted. */
export function windowOfChunk(
  chunk: Pick<ChunkReader, 'isWhole' | 'meta'>,
  request: WindowsRequest,
): bigint | undefined {
  if (!chunk.isWhole) return undefined;
  const { minTime, maxTime } = chunk.meta;
  const { start, end } = windowOf(minTime, request);
  return maxTime < end ? start : undefined;
}
