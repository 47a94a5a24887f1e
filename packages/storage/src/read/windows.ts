// What folds the values of one field into windows, and what comes of it. Semantics: AggregateBatch
// in the query package.
import type { Column } from '@tidemark/core';
import type { AggregateColumn, AggregateFunction } from '@tidemark/query';

import type { ChunkReader } from './chunk-reader.ts';

/** Non-empty windows in the order of delivery, and their columns. */
export type FieldResult = {
  readonly starts: BigInt64Array;
  readonly column: (name: AggregateFunction) => AggregateColumn;
};

/** Windows of one field of many groups. Close it. */
export interface GroupedWindows {
  /** Of all groups. */
  readonly windowCount: number;
  /** Adds rows that are ordered by the numbers of their groups, in each by time. */
  add(groups: Uint32Array, times: BigInt64Array, column: Column): void;
  /** Those of one group, which can be used until all are closed. */
  of(group: number): FieldWindows;
  close(): void;
}

/** Takes rows of one series after the other, in runs of ascending times. Close it. */
export interface FieldWindows {
  readonly windowCount: number;
  add(times: BigInt64Array, column: Column, mask?: Uint8Array): void;
  /**
   * Adds a chunk without decoding it twice, where that is possible; `false` when `add` has to be
   * used.
   */
  addChunk(chunk: ChunkReader, index: number): boolean;
  /** Whether what the directory tells of a chunk suffices. */
  hasStatistics(chunk: ChunkReader, index: number): boolean;
  /**
   * Adds a chunk that lies within the window that begins at `start` by its statistics, which must
   * suffice.
   */
  addStatistics(chunk: ChunkReader, index: number, start: bigint): void;
  finish(descending: boolean): FieldResult;
  /** Forgets all windows: for the next group. */
  reset(): void;
}
