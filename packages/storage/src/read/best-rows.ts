// The best rows of windows (`BestRows` of a request) for all groups of a request.
import { AssertionFailed, columnFrom } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import type { BestRows } from '@tidemark/query';

import { lowerBound } from '../columns/run.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { ColumnMeta } from '../segment/format.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import { BestOfWindow } from './best-of-window.ts';
import type { BestOptions, BestRow } from './best-of-window.ts';
import type { ColumnWants } from './column-plan.ts';
import { WindowsByGroup } from './windows-by-group.ts';
import type { WindowsTotal } from './windows-by-group.ts';
import { windowOf } from './windows.ts';
import type { FieldResult, FieldWindows, GroupedWindows, WindowsRequest } from './windows.ts';

const WINDOW_BYTES = 400;
const ROW_BYTES = 150;

/** Windows of the groups of a request; `index` is that of the series whose rows are added. */
export function groupedBestRows(
  request: WindowsRequest,
  wanted: BestRows,
  index: () => SeriesIndex,
): GroupedWindows {
  const { distinctTags, columns } = wanted;
  const combinationOf = (series: SeriesId): string => symbolsOf(series, distinctTags, index());
  const options: BestOptions = {
    wanted,
    combinationOf: distinctTags.length === 0 ? undefined : combinationOf,
    tellsApart: columns.some(({ kind, name }) => kind === 'field' || !distinctTags.includes(name)),
  };
  const open = (total: WindowsTotal): FieldWindows =>
    new BestRowsWindows(request, wanted, options, total);
  return new WindowsByGroup(open, { asksForSeries: true });
}

/** What distinguishes series with other values of the tags; a missing one is a value, too. */
function symbolsOf(series: SeriesId, tags: readonly string[], index: SeriesIndex): string {
  const measurement = index.measurementOf(series);
  const ordinal = index.ordinalOf(series);
  return tags.map((name) => measurement.column(name)?.values[ordinal] ?? 0).join();
}

class BestRowsWindows implements FieldWindows {
  readonly #request: WindowsRequest;
  readonly #wanted: BestRows;
  readonly #options: BestOptions;
  readonly #total: WindowsTotal;
  /** By their starts. */
  readonly #windows = new Map<bigint, BestOfWindow>();
  /** A directory entry may tell that none of its rows is among the best. */
  readonly wants: ColumnWants;

  constructor(
    request: WindowsRequest,
    wanted: BestRows,
    options: BestOptions,
    total: WindowsTotal,
  ) {
    this.#request = request;
    this.#wanted = wanted;
    this.#options = options;
    this.#total = total;
    const { type } = wanted;
    this.wants = {
      type,
      countsOnly: false,
      takesColumns: true,
      isToldBy: (column, stored) => stored === type && this.#isHopeless(column),
    };
  }

  get windowCount(): number {
    return this.#windows.size;
  }

  add(times: BigInt64Array, column: Column, series: SeriesId): void {
    const rows = { times, column };
    for (let from = 0; from < times.length;) {
      const first = from;
      const { start, end } = windowOf(times[first]!, this.#request);
      const to = lowerBound(times, end, first);
      this.#addRows(start, (best) => best.add(series, rows, first, to));
      from = to;
    }
  }

  #addRows(start: bigint, add: (best: BestOfWindow) => void): void {
    const known = this.#windows.get(start);
    const window = known ?? new BestOfWindow(this.#options);
    const before = window.length;
    add(window);
    this.#total.heldBytes += (window.length - before) * ROW_BYTES;
    if (known !== undefined || window.length === 0) return;
    this.#windows.set(start, window);
    this.#total.windowCount++;
    this.#total.heldBytes += WINDOW_BYTES;
  }

  addCached(): never {
    throw new AssertionFailed('columns are taken, not their places in the cache');
  }

  /** The entry told that there is nothing to add. */
  addEntry(): void {
    // See `wants`.
  }

  #isHopeless({ statistics }: ColumnMeta): boolean {
    const { window, timeRange } = this.#request;
    const best = window === undefined ? this.#windows.get(timeRange.start) : undefined;
    if (best === undefined || statistics === undefined) return false;
    const { min, max } = statistics;
    return best.isHopeless(this.#wanted.order === 'top' ? max : min);
  }

  finish(descending: boolean): FieldResult {
    const starts = BigInt64Array.from(this.#windows.keys()).sort();
    if (descending) starts.reverse();
    const windows = Array.from(starts, (start) => this.#windows.get(start)!);
    if (windows.some(({ isTied }) => isTied))
      return { starts, columns: [], points: [], isTied: true };
    const rows: BestRow[] = [];
    const counts = Uint32Array.from(windows, (window) => {
      rows.push(...window.inOrder(descending));
      return window.length;
    });
    const values = columnFrom(
      this.#wanted.type,
      rows.map(({ value }) => (this.#wanted.type === 'boolean' ? Boolean(value) : value)),
    );
    const times = BigInt64Array.from(rows, ({ time }) => time);
    const series = Uint32Array.from(rows, (row) => row.series);
    return { starts, columns: [], points: [{ counts, values, times, series }] };
  }

  reset(): void {
    this.#total.windowCount -= this.#windows.size;
    for (const { length } of this.#windows.values()) {
      this.#total.heldBytes -= WINDOW_BYTES + length * ROW_BYTES;
    }
    this.#windows.clear();
  }
}
