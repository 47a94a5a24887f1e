// Interfaces for folding the values of one field into windows, and the result. Semantics:
// `AggregateBatch` in the query package.
import type { Column } from '@tidemark/core';
import type { AggregateColumn, AggregateFunction, MeasurementAggregates } from '@tidemark/query';

import type { ChunkReader } from './chunk-reader.ts';
import type { ColumnWants } from './column-plan.ts';

/** What the windows of all measurements of a request have in common. */
export type WindowsRequest = Omit<MeasurementAggregates, 'source'>;

/** Non-empty windows in the order of the request, and their columns. */
export type FieldResult = {
  readonly starts: BigInt64Array;
  readonly column: (name: AggregateFunction) => AggregateColumn;
};

/** Windows of one field for many groups. Must be closed. */
export interface GroupedWindows {
  /** Number of windows of all groups. */
  readonly windowCount: number;
  /** Size of their texts; absent where there are none. */
  readonly textBytes?: number;
  /** Adds rows of several groups, ordered by group, then by time. */
  add(groups: Uint32Array, times: BigInt64Array, column: Column): void;
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
  add(times: BigInt64Array, column: Column): void;
  readonly wants: ColumnWants;
  /** Adds the wanted rows of a chunk, as `cached` of the plan (`column-plan.ts`). */
  addCached(chunk: ChunkReader, index: number): void;
  /** Adds a chunk that lies within the window beginning at `start` by its directory entry. */
  addEntry(chunk: ChunkReader, index: number, start: bigint): void;
  finish(descending: boolean): FieldResult;
  /** Removes all windows, for the next group. */
  reset(): void;
}
