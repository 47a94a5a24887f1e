// What tombstones delete of a measurement, as one set: for each series the ranges of time in which
// its rows are deleted. Sets are immutable; one that is made of another by a further tombstone
// shares all pages in which nothing changes.
import type { TimeRange } from '@tidemark/core';

import type { TimeSpan } from '../columns/overlaps.ts';
import { lowerBound } from '../columns/run.ts';
import { firstBeyond } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';

/** Ascending, neither overlapping nor touching. */
export type Ranges = readonly TimeRange[];

/** Deleted rows; `series` undefined means all series of the measurement. */
export type DeletedPart = {
  readonly series: Uint32Array | undefined;
  readonly timeRange: TimeRange;
};

/** Series, ascending, and where the rows of each end among the rows of all. */
export type RunsOfSeries = {
  readonly ids: Uint32Array | readonly SeriesId[];
  readonly ends: Uint32Array | readonly number[];
};

/** Ranges of series with consecutive ids. */
type Page = (Ranges | undefined)[];

const PAGE_SERIES = 32;
const NO_RANGES: Ranges = [];

export class DeletedRanges {
  /** In these ranges the rows of all series are deleted. */
  readonly #ofAll: Ranges;
  readonly #pages: readonly (Page | undefined)[];
  /** Ranges of `#pages` joined with `#ofAll`. */
  readonly #joined = new Map<Ranges, Ranges>();

  private constructor(ofAll: Ranges, pages: readonly (Page | undefined)[]) {
    this.#ofAll = ofAll;
    this.#pages = pages;
  }

  static of(parts: readonly DeletedPart[]): DeletedRanges {
    const bySeries = new Map<Uint32Array | undefined, TimeRange[]>();
    for (const { series, timeRange } of parts) {
      const ranges = bySeries.get(series);
      if (ranges === undefined) bySeries.set(series, [timeRange]);
      else ranges.push(timeRange);
    }
    let ofAll = NO_RANGES;
    const pages: (Page | undefined)[] = [];
    const own = new Set<number>();
    for (const [series, ranges] of bySeries) {
      if (series === undefined) ofAll = union(ranges);
      else addToPages(pages, own, { series, ranges: union(ranges) });
    }
    return new DeletedRanges(ofAll, pages);
  }

  /** With what one more tombstone deletes. */
  with({ series, timeRange }: DeletedPart): DeletedRanges {
    if (series === undefined) return new DeletedRanges(plus(this.#ofAll, timeRange), this.#pages);
    const pages = this.#pages.slice();
    addToPages(pages, new Set(), { series, ranges: [timeRange] });
    return new DeletedRanges(this.#ofAll, pages);
  }

  ofSeries(id: SeriesId): Ranges {
    const own = this.#pages[Math.floor(id / PAGE_SERIES)]?.[id % PAGE_SERIES];
    if (own === undefined) return this.#ofAll;
    if (this.#ofAll.length === 0) return own;
    let joined = this.#joined.get(own);
    if (joined === undefined) this.#joined.set(own, (joined = union([...own, ...this.#ofAll])));
    return joined;
  }

  /** How much of the rows of some series is deleted, when they lie between the two times. */
  coverage(ids: RunsOfSeries['ids'], span: TimeSpan): 'none' | 'part' | 'all' {
    let result: 'none' | 'all' | undefined;
    let before: Ranges | undefined;
    for (let i = 0; i < ids.length; i++) {
      const ranges = this.ofSeries(ids[i]!);
      if (ranges === before) continue;
      before = ranges;
      const covered = coveredBy(ranges, span);
      result ??= covered === 'part' ? undefined : covered;
      if (covered !== result) return 'part';
    }
    return result ?? 'none';
  }

  /**
   * A mask with 1 for each row that is not deleted; `undefined` when none is. The times of each
   * series ascend.
   */
  rowsLeft({ ids, ends }: RunsOfSeries, times: BigInt64Array): Uint8Array | undefined {
    let keep: Uint8Array | undefined;
    let from = 0;
    for (let i = 0; i < ids.length; i++) {
      const to = ends[i]!;
      const ranges = this.ofSeries(ids[i]!);
      if (ranges.length > 0) keep = withoutRows(keep, times, { ranges, from, to });
      from = to;
    }
    return keep;
  }

  /** Whether a row of a series is left, whose times ascend. */
  hasRowLeft(id: SeriesId, times: BigInt64Array): boolean {
    const ranges = this.ofSeries(id);
    for (let at = 0; at < times.length;) {
      const range = ranges[firstEndingAt(ranges, times[at]!)];
      if (range === undefined || range.start > times[at]!) return true;
      at = lowerBound(times, range.end + 1n, at);
    }
    return false;
  }
}

function coveredBy(ranges: Ranges, { minTime, maxTime }: TimeSpan): 'none' | 'part' | 'all' {
  const range = ranges[firstEndingAt(ranges, minTime)];
  if (range === undefined || range.start > maxTime) return 'none';
  return range.start <= minTime && range.end >= maxTime ? 'all' : 'part';
}

/** Adds ranges of some series. Pages that are not in `own` are copied first. */
function addToPages(
  pages: (Page | undefined)[],
  own: Set<number>,
  { series, ranges }: { readonly series: Uint32Array; readonly ranges: Ranges },
): void {
  // Series that were deleted together share their ranges, and go on doing so.
  const changed = new Map<Ranges | undefined, Ranges>([[undefined, ranges]]);
  for (const id of series) {
    const number = Math.floor(id / PAGE_SERIES);
    let page = pages[number];
    if (page === undefined || !own.has(number)) {
      page = page?.slice() ?? Array.from({ length: PAGE_SERIES }, () => undefined);
      while (pages.length < number) pages.push(undefined);
      pages[number] = page;
      own.add(number);
    }
    const before = page[id % PAGE_SERIES];
    let after = changed.get(before);
    if (after === undefined) {
      after = ranges.reduce<Ranges>(plus, before!);
      changed.set(before, after);
    }
    page[id % PAGE_SERIES] = after;
  }
}

/** The ranges with one more, which is merged with those that it overlaps or touches. */
function plus(ranges: Ranges, range: TimeRange): Ranges {
  const from = firstBeyond(ranges.length, (i) => ranges[i]!.end + 1n >= range.start);
  const to = firstBeyond(ranges.length, (i) => ranges[i]!.start > range.end + 1n);
  if (from === to) return ranges.toSpliced(from, 0, range);
  const first = ranges[from]!.start;
  const last = ranges[to - 1]!.end;
  const start = first < range.start ? first : range.start;
  const end = last > range.end ? last : range.end;
  return ranges.toSpliced(from, to - from, { start, end });
}

function union(ranges: readonly TimeRange[]): Ranges {
  if (ranges.length < 2) return ranges;
  const merged: TimeRange[] = [];
  for (const range of ranges.toSorted((a, b) => (a.start < b.start ? -1 : 1))) {
    const last = merged.at(-1);
    if (last === undefined || range.start > last.end + 1n) merged.push(range);
    else if (range.end > last.end)
      merged[merged.length - 1] = { start: last.start, end: range.end };
  }
  return merged;
}

/** The mask without those of the rows [from, to) that a range covers. */
function withoutRows(
  mask: Uint8Array | undefined,
  times: BigInt64Array,
  { ranges, from, to }: { ranges: readonly TimeRange[]; from: number; to: number },
): Uint8Array | undefined {
  if (from === to) return mask;
  let keep = mask;
  const rows = times.subarray(from, to);
  for (let at = firstEndingAt(ranges, rows[0]!); at < ranges.length; at++) {
    const { start, end } = ranges[at]!;
    if (start > rows.at(-1)!) break;
    const first = lowerBound(rows, start);
    const last = lowerBound(rows, end + 1n, first);
    if (first === last) continue;
    keep ??= new Uint8Array(times.length).fill(1);
    keep.fill(0, from + first, from + last);
  }
  return keep;
}

/** The first of ascending ranges that ends at `time` or later. */
function firstEndingAt(ranges: readonly TimeRange[], time: bigint): number {
  return firstBeyond(ranges.length, (i) => ranges[i]!.end >= time);
}
