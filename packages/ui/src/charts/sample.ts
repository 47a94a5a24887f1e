// Down-sampling to pixels by M4: of each pixel's column the first, the smallest, the largest and
// the last value. A line through them covers exactly the pixels that a line through all values
// would: no extreme is hidden.
import { lowerBound } from './data.ts';
import type { ChartSeries } from './data.ts';

/** Points of one series: times ascending, `null` where the line is interrupted. */
export type SampledSeries = {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
};

/**
 * Points of a span for `columns` columns of pixels, with one point on both sides so that lines
 * leave the picture.
 */
export function sampleSeries(
  { times, values }: ChartSeries,
  span: { readonly from: number; readonly to: number; readonly columns: number },
): SampledSeries {
  const { from, to, columns } = span;
  const start = Math.max(0, lowerBound(times, from) - 1);
  const end = Math.min(times.length, lowerBound(times, to + 1e-6) + 1);
  const sampled: { times: number[]; values: (number | null)[] } = { times: [], values: [] };
  const add = (index: number): void => {
    const value = values[index] ?? NaN;
    sampled.times.push(times[index] ?? 0);
    sampled.values.push(Number.isNaN(value) ? null : value);
  };
  if (end - start <= columns * 4) {
    for (let i = start; i < end; i++) add(i);
    return sampled;
  }
  const width = (to - from) / columns;
  let index = start;
  while (index < end) {
    const column = Math.floor(((times[index] ?? 0) - from) / width);
    const limit = from + (column + 1) * width;
    const first = index;
    let lowest = -1;
    let highest = -1;
    let gap = -1;
    let min = Infinity;
    let max = -Infinity;
    for (; index < end && ((times[index] ?? 0) < limit || index === first); index++) {
      const value = values[index] ?? NaN;
      if (value < min) {
        min = value;
        lowest = index;
      }
      if (value > max) {
        max = value;
        highest = index;
      }
      if (gap < 0 && Number.isNaN(value)) gap = index;
    }
    const chosen = [first, lowest, highest, gap, index - 1].filter((at) => at >= 0);
    chosen.sort((a, b) => a - b);
    for (let i = 0; i < chosen.length; i++) {
      const at = chosen[i] ?? 0;
      if (i === 0 || at !== chosen[i - 1]) add(at);
    }
  }
  return sampled;
}

/**
 * Table of several series: all their times, and per series its value there. `undefined`: the line
 * goes on.
 */
export type AlignedData = [number[], ...(number | null | undefined)[][]];

/** Lines series up by time. */
export function alignSeries(series: readonly SampledSeries[]): AlignedData {
  const [only] = series;
  if (only !== undefined && series.length === 1) return [[...only.times], [...only.values]];
  const all = new Float64Array(series.reduce((count, { times }) => count + times.length, 0));
  let filled = 0;
  for (const { times } of series) {
    all.set(times, filled);
    filled += times.length;
  }
  all.sort();
  const times: number[] = [];
  for (const time of all) if (times.at(-1) !== time) times.push(time);
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
