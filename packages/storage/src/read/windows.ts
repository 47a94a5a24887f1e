// Interfaces for folding the values of one field into windows, and the result. Semantics:
// `AggregateBatch` in the query package.
import { floorMod, MAX_TIME, MIN_INT64 } from '@tidemark/core';
import type { Column, Timestamp } from '@tidemark/core';
import type {
  AggregateColumn,
  BestRows,
  FieldAggregates,
  FieldFolds,
  MeasurementAggregates,
  WindowPoints,
  WindowSpec,
} from '@tidemark/query';

import type { SeriesId } from '../columns/series-id.ts';
import type { ChunkReader } from './chunk-reader.ts';
import type { ColumnWants } from './column-plan.ts';
import type { NthTime } from './nth-time.ts';
import type { TiedField } from './tied-rows.ts';

/** What the windows of all measurements of a request have in common. */
export type WindowsRequest = Omit<ReadRequest, 'source'>;

/** A request, or a read that one of its results needs. */
export type ReadRequest = MeasurementAggregates & {
  /** Then there are no other fields. */
  readonly nthTime?: NthTime | undefined;
  /** The same. */
  readonly tied?: readonly TiedField[] | undefined;
};

/** Start of the window of a time. That of the first window may lie before the smallest int64. */
export function alignedStart(time: Timestamp, { everyNanos, offsetNanos }: WindowSpec): bigint {
  return time - floorMod(time - offsetNanos, everyNanos);
}

/**
 * The window `[start, end)` of a time. As in the kernel, the first window begins with the smallest
 * int64 if it would begin before it.
 */
export function windowOf(
  time: Timestamp,
  { window, timeRange }: WindowsRequest,
): { readonly start: bigint; readonly end: bigint } {
  if (window === undefined) return { start: timeRange.start, end: MAX_TIME + 1n };
  const start = alignedStart(time, window);
  return { start: start < MIN_INT64 ? MIN_INT64 : start, end: start + window.everyNanos };
}

/** Non-empty windows in the order of the request, and their columns. */
export type FieldResult = {
  readonly starts: BigInt64Array;
  /** One per function of the field. */
  readonly columns: readonly AggregateColumn[];
  /** One per fold of the field. */
  readonly points: readonly StoredPoints[];
  /** Which rows are the best depends on how series are merged: there are no points. */
  readonly isTied?: boolean | undefined;
};

/** Points that may have the series of their rows, whose columns are wanted. */
export type StoredPoints = WindowPoints & {
  readonly series?: Uint32Array | undefined;
  /** How many rows with the value of a percentile come before its row, whose time is wanted. */
  readonly equalBefore?: number | undefined;
};

/** One of the fields of a request: its aggregates, or its folds. */
export type RequestedField =
  | (FieldAggregates & { readonly kind: 'aggregates' })
  | (FieldFolds & { readonly kind: 'folds' })
  | (BestRows & { readonly kind: 'best' })
  | (NthTime & { readonly kind: 'nth-time' })
  | (TiedField & { readonly kind: 'tied' });

/** The fields of a request, aggregates first: as many columns of rows are read. */
export function requestedFields({
  aggregates,
  folds = [],
  best,
  nthTime,
  tied = [],
}: Pick<
  ReadRequest,
  'aggregates' | 'folds' | 'best' | 'nthTime' | 'tied'
>): readonly RequestedField[] {
  return [
    ...aggregates.map((field) => ({ kind: 'aggregates' as const, ...field })),
    ...folds.map((field) => ({ kind: 'folds' as const, ...field })),
    ...(best === undefined ? [] : [{ kind: 'best' as const, ...best }]),
    ...(nthTime === undefined ? [] : [{ kind: 'nth-time' as const, ...nthTime }]),
    ...tied.map((field) => ({ kind: 'tied' as const, ...field })),
  ];
}

/** Windows of one field for many groups. Must be closed. */
export interface GroupedWindows {
  /** Number of windows of all groups. */
  readonly windowCount: number;
  /** Memory of their texts and of what folds hold; absent where there is none. */
  readonly heldBytes?: number;
  /**
   * Adds rows of several groups and series, ordered by group, then by time if the answer depends on
   * that (`needsOrder`).
   */
  add(groups: Uint32Array, times: BigInt64Array, column: Column, series: Uint32Array): void;
  /** Windows of one group, valid until `close`. */
  of(group: number): FieldWindows;
  close(): void;
}

/**
 * Windows of one field for one group. Takes rows of one series after another, in ascending order of
 * time.
 */
export interface FieldWindows {
  readonly windowCount: number;
  add(times: BigInt64Array, column: Column, series: SeriesId): void;
  readonly wants: ColumnWants;
  /** Adds the wanted rows of a chunk, as `cached` of the plan (`column-plan.ts`). */
  addCached(chunk: ChunkReader, index: number): void;
  /**
   * Adds a chunk of a series that lies within the window beginning at `start`, by its directory
   * entry.
   */
  addEntry(chunk: ChunkReader, index: number, start: bigint, series: SeriesId): void;
  /** The result, or steps of long work that has it in the end. */
  finish(descending: boolean): FieldResult | Generator<undefined, FieldResult>;
  /** Removes all windows, for the next group. */
  reset(): void;
  /** Frees memory of the kernel; absent if there is none of its own. Idempotent. */
  close?(): void;
}
