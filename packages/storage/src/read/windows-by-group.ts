// Windows of a field that are not in the kernel's memory: those of each group on their own.
import type { Column } from '@tidemark/core';

import { sliceColumn } from '../columns/run.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { FieldWindows, GroupedWindows } from './windows.ts';

/** The windows of all groups, and the memory that they hold. */
export type WindowsTotal = { windowCount: number; heldBytes: number };

export class WindowsByGroup implements GroupedWindows {
  readonly #open: (total: WindowsTotal) => FieldWindows;
  readonly #groups = new Map<number, FieldWindows>();
  readonly #total: WindowsTotal = { windowCount: 0, heldBytes: 0 };

  readonly #asksForSeries: boolean;

  /**
   * `open` makes the windows of a group, which keep the total up to date. Unless it
   * `asksForSeries`, rows of several series are added together.
   */
  constructor(open: (total: WindowsTotal) => FieldWindows, { asksForSeries = false } = {}) {
    this.#open = open;
    this.#asksForSeries = asksForSeries;
  }

  get windowCount(): number {
    return this.#total.windowCount;
  }

  get heldBytes(): number {
    return this.#total.heldBytes;
  }

  add(groups: Uint32Array, times: BigInt64Array, column: Column, series: Uint32Array): void {
    for (const rows of rowsByGroup(groups, times, column)) {
      const windows = this.of(rows.group);
      if (!this.#asksForSeries) {
        windows.add(rows.times, rows.column, series[rows.from]! as SeriesId);
        continue;
      }
      const ofGroup = series.subarray(rows.from, rows.from + rows.times.length);
      for (const part of rowsByGroup(ofGroup, rows.times, rows.column)) {
        windows.add(part.times, part.column, part.group as SeriesId);
      }
    }
  }

  of(group: number): FieldWindows {
    let windows = this.#groups.get(group);
    if (windows === undefined) {
      windows = this.#open(this.#total);
      this.#groups.set(group, windows);
    }
    return windows;
  }

  close(): void {
    for (const windows of this.#groups.values()) windows.close?.();
    this.#groups.clear();
  }
}

type GroupRows = {
  readonly group: number;
  /** The number of the first one. */
  readonly from: number;
  readonly times: BigInt64Array;
  readonly column: Column;
};

/** The rows of each group, of rows that are ordered by group; or of any other number. */
export function* rowsByGroup(
  groups: Uint32Array,
  times: BigInt64Array,
  column: Column,
): Generator<GroupRows> {
  for (let from = 0; from < groups.length;) {
    const group = groups[from]!;
    let to = from + 1;
    while (to < groups.length && groups[to] === group) to++;
    yield { group, from, times: times.subarray(from, to), column: sliceColumn(column, from, to) };
    from = to;
  }
}
