// The time of the row that a percentile has chosen by its value: among the rows of a group with
// this value, the row of a number, in the order of the query. Values are tallied without times, so
// these are read afterwards.
import { assert, AssertionFailed } from '@tidemark/core';
import type { Column, FieldValue } from '@tidemark/core';
import type { Scans, Tallies } from '@tidemark/kernels';

import type { NumericType } from '../columns/kernel-words.ts';
import type { ColumnMeta } from '../segment/format.ts';
import type { ColumnWants } from './column-plan.ts';
import { WindowsByGroup } from './windows-by-group.ts';
import type { FieldResult, FieldWindows, GroupedWindows, WindowsRequest } from './windows.ts';

/** The row with a value that so many others with it come before. */
export type NthTime = {
  readonly field: string;
  readonly type: NumericType;
  readonly value: number | bigint;
  readonly rank: number;
};

/** Windows whose only point is the time. */
export function groupedNthTimes(
  scans: Scans,
  request: WindowsRequest,
  wanted: NthTime,
): GroupedWindows {
  return new WindowsByGroup(() => new NthTimeWindows(scans, request, wanted));
}

class NthTimeWindows implements FieldWindows {
  readonly #wanted: NthTime;
  /** Of the times of the rows with the value. */
  readonly #times: Tallies;
  readonly wants: ColumnWants;

  constructor(scans: Scans, { timeRange: { start } }: WindowsRequest, wanted: NthTime) {
    const { type, value } = wanted;
    this.#wanted = wanted;
    const ofTimes = {
      type: 'integer',
      groups: 1,
      start,
      hasTimes: false,
      descending: false,
    } as const;
    this.#times = scans.openTallies(ofTimes);
    const isOutside = ({ statistics }: ColumnMeta): boolean =>
      statistics !== undefined && (value < statistics.min || value > statistics.max);
    this.wants = {
      type,
      countsOnly: false,
      takesColumns: true,
      isToldBy: (column, stored) => stored === type && isOutside(column),
    };
  }

  get windowCount(): number {
    return this.#times.windowCount;
  }

  add(times: BigInt64Array, column: Column): void {
    assert(column.type === this.#wanted.type, 'a column has the type of its windows');
    const found = times.slice();
    let count = 0;
    const { valid } = column;
    const values: ArrayLike<FieldValue> = column.values;
    const { value } = this.#wanted;
    for (let row = 0; row < times.length; row++) {
      if (values[row] === value && valid?.[row] !== 0) found[count++] = times[row]!;
    }
    if (count === 0) return;
    const part = found.subarray(0, count);
    this.#times.add(0, part, { type: 'integer', values: part, valid: undefined });
  }

  addCached(): never {
    throw new AssertionFailed('columns are taken, not their places in the cache');
  }

  /** The entry told that the chunk does not have the value. */
  addEntry(): void {
    // See `wants`.
  }

  *finish(descending: boolean): Generator<undefined, FieldResult> {
    const [window] = this.#times.windowsOf(0);
    assert(window !== undefined, 'the row was there when its value was chosen');
    const { rank } = this.#wanted;
    const ascending = descending ? this.#times.valueCount(window) - 1 - rank : rank;
    const time = BigInt.asIntN(64, yield* this.#times.select(window, ascending));
    const values = BigInt64Array.of(time);
    const point = {
      counts: Uint32Array.of(1),
      values: { type: 'integer', values, valid: undefined },
    } as const;
    return { starts: BigInt64Array.of(window.start), columns: [], points: [point] };
  }

  reset(): void {
    this.#times.reset();
  }

  close(): void {
    this.#times.close();
  }
}
