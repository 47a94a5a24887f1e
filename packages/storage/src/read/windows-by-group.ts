// Windows of a field that are not in the kernel's memory: those of each group on their own.
import type { Column } from '@tidemark/core';

import { sliceColumn } from '../columns/run.ts';
import type { FieldWindows, GroupedWindows } from './windows.ts';

/** The windows of all groups, and the memory that they hold. */
export type WindowsTotal = { windowCount: number; heldBytes: number };

export class WindowsByGroup implements GroupedWindows {
  readonly #open: (total: WindowsTotal) => FieldWindows;
  readonly #groups = new Map<number, FieldWindows>();
  readonly #total: WindowsTotal = { windowCount: 0, heldBytes: 0 };

  /** `open` makes the windows of a group, which keep the total up to date. */
  constructor(open: (total: WindowsTotal) => FieldWindows) {
    this.#open = open;
  }

  get windowCount(): number {
    return this.#total.windowCount;
  }

  get heldBytes(): number {
    return this.#total.heldBytes;
  }

  add(groups: Uint32Array, times: BigInt64Array, column: Column): void {
    for (const rows of rowsByGroup(groups, times, column)) {
      this.of(rows.group).add(rows.times, rows.column);
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
    this.#groups.clear();
  }
}

/** The rows of each group, of rows that are ordered by group. */
export function* rowsByGroup(
  groups: Uint32Array,
  times: BigInt64Array,
  column: Column,
): Generator<{ readonly group: number; readonly times: BigInt64Array; readonly column: Column }> {
  for (let from = 0; from < groups.length;) {
    const group = groups[from]!;
    let to = from + 1;
    while (to < groups.length && groups[to] === group) to++;
    yield { group, times: times.subarray(from, to), column: sliceColumn(column, from, to) };
    from = to;
  }
}
