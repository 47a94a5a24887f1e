// Windows of a field that is only counted. Values are never read: a chunk that lies within one
// window is counted by its directory entry.
import { assert } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import type { Accumulator, Accumulators, Scans } from '@tidemark/kernels';
import type { AggregateFunction, FieldAggregates } from '@tidemark/query';

import type { ChunkReader } from './chunk-reader.ts';
import type { ColumnWants } from './column-plan.ts';
import { presenceColumn } from '../columns/presence.ts';
import type { FieldResult, FieldWindows, GroupedWindows, WindowsRequest } from './windows.ts';

/** Whether only the number of values of a field is wanted. Functions are listed once each. */
export function isCountOnly(functions: readonly AggregateFunction[]): boolean {
  return functions.length === 1 && functions[0] === 'count';
}

export class GroupedCounts implements GroupedWindows {
  readonly #wants: ColumnWants;
  /**
   * Counts values as booleans that are all false: they take a byte each, less than any other type.
   */
  readonly #accumulators: Accumulators;

  constructor(
    scans: Scans,
    { window, timeRange }: WindowsRequest,
    { type, count }: FieldAggregates & { readonly count: number },
  ) {
    // Values of a type that does not convert to this one count as nulls.
    this.#wants = { type, countsOnly: true, isToldBy: () => true };
    const { start } = timeRange;
    const wants = { wantsSum: false, wantsExtremes: false };
    this.#accumulators = scans.openAccumulators('boolean', { window, start, count, ...wants });
  }

  get windowCount(): number {
    return this.#accumulators.windowCount;
  }

  add(groups: Uint32Array, times: BigInt64Array, { valid }: Column): void {
    this.#accumulators.add(groups, times, presenceColumn(times.length, valid));
  }

  of(group: number): FieldWindows {
    return new CountWindows(this.#accumulators.of(group), this.#wants);
  }

  close(): void {
    this.#accumulators.close();
  }
}

class CountWindows implements FieldWindows {
  readonly wants: ColumnWants;
  readonly #accumulator: Accumulator;
  /** Values not yet in the accumulator, of consecutive chunks in one window. */
  #pending = 0;
  /** Start of the window of the pending values. */
  #start = 0n;

  constructor(accumulator: Accumulator, wants: ColumnWants) {
    this.#accumulator = accumulator;
    this.wants = wants;
  }

  get windowCount(): number {
    this.#addPending();
    return this.#accumulator.windowCount;
  }

  add(times: BigInt64Array, column: Column): void {
    this.#accumulator.add(times, presenceColumn(times.length, column.valid));
  }

  addCached(chunk: ChunkReader): void {
    const cached = chunk.cachedRows();
    assert(cached !== undefined, 'a chunk that is planned as cached');
    this.#accumulator.addRows(cached.times, cached.rows);
  }

  addEntry(chunk: ChunkReader, index: number, start: bigint): void {
    if (start !== this.#start) this.#addPending();
    this.#start = start;
    this.#pending += chunk.columns[index]!.count;
  }

  finish(descending: boolean): FieldResult {
    this.#addPending();
    const words = this.#accumulator.results(['start', 'count'], { descending });
    const [starts, counts] = words.map(
      ({ buffer, byteOffset, length }) => new BigInt64Array(buffer, byteOffset, length),
    );
    const values: Column = { type: 'integer', values: counts ?? NONE, valid: undefined };
    return { starts: starts ?? NONE, columns: [{ values }], points: [] };
  }

  reset(): void {
    this.#pending = 0;
    this.#accumulator.reset();
  }

  #addPending(): void {
    if (this.#pending > 0) this.#accumulator.addPartial(this.#start, this.#pending, NO_VALUES);
    this.#pending = 0;
  }
}

const NONE = new BigInt64Array();

const NO_VALUES = {
  sum: 0n,
  min: 0n,
  minTime: 0n,
  max: 0n,
  maxTime: 0n,
  first: 0n,
  firstTime: 0n,
  last: 0n,
  lastTime: 0n,
};
