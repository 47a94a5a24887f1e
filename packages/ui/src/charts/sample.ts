// Down-sampling to pixels with M4: the first, smallest, largest and last value of each column of
// pixels. A line through them covers exactly the same pixels as a line through all values: no
// extreme is hidden.
import { lowerBound } from './data.ts';
import type { ChartSeries } from './data.ts';

/** Points of one series: times ascending, `null` where the line is interrupted. */
export type SampledSeries = {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
};

/** A time span, and the number of pixel columns that show it. */
export type SampledSpan = { readonly from: number; readonly to: number; readonly columns: number };

/** At most the four values, and one missing value. */
export const POINTS_OF_COLUMN = 5;

/** Indices of points, and whether none was left out. */
type ColumnPoints = { readonly chosen: readonly number[]; readonly isAll: boolean };

/** Cached columns, in widths of the view: enough to move back and forth. */
const PICTURES_KEPT = 8;

/**
 * Samples one series for successive spans. While the view moves by whole columns, known columns are
 * not sampled again.
 */
export class Sampler {
  readonly #series: ChartSeries;
  #width = NaN;
  #origin = 0;
  /** Points of columns, numbered from the origin. */
  readonly #kept = new Map<number, ColumnPoints>();

  constructor(series: ChartSeries) {
    this.#series = series;
  }

  /**
   * Points of a span for `columns` pixel columns, with one point on each side so that lines leave
   * the view.
   */
  sample({ from, to, columns }: SampledSpan): SampledSeries {
    const { times, values } = this.#series;
    const sampled: { times: number[]; values: (number | null)[] } = { times: [], values: [] };
    const add = (index: number, time = times[index] ?? 0): void => {
      const value = values[index] ?? NaN;
      sampled.times.push(time);
      sampled.values.push(Number.isNaN(value) ? null : value);
    };
    const start = Math.max(0, lowerBound(times, from) - 1);
    const end = Math.min(times.length, lowerBound(times, to + 1e-6) + 1);
    if (end - start <= columns * POINTS_OF_COLUMN) {
      for (let i = start; i < end; i++) add(i);
      return sampled;
    }
    const first = this.#columnAt(from, (to - from) / columns);
    if (this.#kept.size > PICTURES_KEPT * columns) this.#kept.clear();
    const before = lowerBound(times, this.#timeOf(first)) - 1;
    if (before >= 0) add(before);
    for (let i = first; i < first + columns; i++) {
      const { chosen, isAll } = this.#pointsOf(i);
      // The position within a pixel column is invisible, and lines with the same times are quick.
      chosen.forEach((index, at) =>
        add(index, isAll ? undefined : this.#timeOf(i + (at + 0.5) / POINTS_OF_COLUMN)),
      );
    }
    const rest = lowerBound(times, this.#timeOf(first + columns));
    for (let i = rest; i < end; i++) add(i);
    return sampled;
  }

  #timeOf(column: number): number {
    return this.#origin + column * this.#width;
  }

  /** The column that begins there. A different alignment of columns clears the cache. */
  #columnAt(from: number, width: number): number {
    const column = (from - this.#origin) / this.#width;
    const isSame =
      Math.abs(width / this.#width - 1) < 1e-9 && Math.abs(column - Math.round(column)) < 1e-3;
    if (isSame) return Math.round(column);
    this.#kept.clear();
    this.#width = width;
    this.#origin = from;
    return 0;
  }

  #pointsOf(column: number): ColumnPoints {
    const kept = this.#kept.get(column);
    if (kept !== undefined) return kept;
    const { times } = this.#series;
    const start = lowerBound(times, this.#timeOf(column));
    const end = lowerBound(times, this.#timeOf(column + 1));
    const chosen = this.#choose(start, end);
    const points = { chosen, isAll: chosen.length === end - start };
    this.#kept.set(column, points);
    return points;
  }

  /** The first, smallest, largest and last of some points, and one missing value. */
  #choose(first: number, end: number): readonly number[] {
    const { values } = this.#series;
    let lowest = -1;
    let highest = -1;
    let gap = -1;
    let min = Infinity;
    let max = -Infinity;
    for (let i = first; i < end; i++) {
      const value = values[i] ?? NaN;
      if (value < min) {
        min = value;
        lowest = i;
      }
      if (value > max) {
        max = value;
        highest = i;
      }
      if (gap < 0 && Number.isNaN(value)) gap = i;
    }
    if (first >= end) return [];
    const chosen = [first, lowest, highest, gap, end - 1].filter((at) => at >= 0);
    return [...new Set(chosen)].toSorted((a, b) => a - b);
  }
}

/**
 * Table of several series: all their times, and each series' value there. `undefined`: the line
 * continues.
 */
export type AlignedData = [readonly number[], ...(readonly (number | null | undefined)[])[]];

/** Aligns series by time. */
export function alignSeries(series: readonly SampledSeries[]): AlignedData {
  const [only] = series;
  if (only !== undefined && series.length === 1) return [only.times, only.values];
  const times = series.reduce<readonly number[]>((all, one) => merged(all, one.times), []);
  const columns = series.map((one) => {
    const column: (number | null | undefined)[] = [];
    let at = 0;
    for (const time of times) {
      if (one.times[at] !== time) {
        column.push(undefined);
        continue;
      }
      // Of several values at one time the last counts.
      while (one.times[at + 1] === time) at++;
      column.push(one.values[at++]);
    }
    return column;
  });
  return [times, ...columns];
}

/** The distinct times of both. Series of one query usually have the same times. */
function merged(a: readonly number[], b: readonly number[]): readonly number[] {
  if (a.length === b.length && a.every((time, i) => time === b[i])) return a;
  const all: number[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const time = Math.min(a[i] ?? Infinity, b[j] ?? Infinity);
    if (all.at(-1) !== time) all.push(time);
    if (a[i] === time) i++;
    if (b[j] === time) j++;
  }
  return all;
}
