// The data of charts. Each series has its own times, so nothing has to be aligned before it is
// sampled.

/** The origin of a series in an answer. */
export type SeriesSource = {
  readonly measurement: string;
  readonly column: string;
  readonly tags: Readonly<Record<string, string>>;
};

/** Differences of one series from those beside it. */
export type SeriesLook = {
  /** A colour variable. */
  readonly colour?: string | undefined;
  readonly axis?: 'left' | 'right' | undefined;
  readonly form?: 'line' | 'area' | 'bars' | 'points' | undefined;
  readonly lineWidth?: number | undefined;
  /** In percent. */
  readonly fill?: number | undefined;
  readonly isDashed?: boolean | undefined;
  /** Not stacked on others. */
  readonly isAlone?: boolean | undefined;
  readonly unit?: string | undefined;
  readonly decimals?: number | undefined;
};

export type ChartSeries = {
  readonly label: string;
  readonly source?: SeriesSource | undefined;
  readonly look?: SeriesLook | undefined;
  /** Milliseconds since 1970, ascending. Series of one query usually share the array. */
  readonly times: Float64Array;
  /** As long as `times`; NaN where the line is interrupted. */
  readonly values: Float64Array;
};

export type ChartData = { readonly series: readonly ChartSeries[] };

/** First and last time of all series; `undefined` without points. */
export function timeBounds({ series }: ChartData): readonly [number, number] | undefined {
  let from = Infinity;
  let to = -Infinity;
  for (const { times } of series) {
    from = Math.min(from, times[0] ?? Infinity);
    to = Math.max(to, times.at(-1) ?? -Infinity);
  }
  return from > to ? undefined : [from, to];
}

/** Index of the first time that is not before `time`. */
export function lowerBound(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The point whose time is nearest; NaN where the line is interrupted or has no points. */
export function pointAt(
  { times, values }: Pick<ChartSeries, 'times' | 'values'>,
  time: number,
): { readonly time: number; readonly value: number } {
  const after = lowerBound(times, time);
  const before = Math.max(0, after - 1);
  const isBefore = time - (times[before] ?? -Infinity) <= (times[after] ?? Infinity) - time;
  const at = isBefore ? before : after;
  return { time: times[at] ?? NaN, value: values[at] ?? NaN };
}

export type SeriesStats = {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly last: number;
  readonly count: number;
};

/** Statistics of a series' values within a span; NaN where there are none. */
export function statsOf({ times, values }: ChartSeries, from: number, to: number): SeriesStats {
  let min = Infinity;
  let max = -Infinity;
  let sum = 0;
  let count = 0;
  let last = NaN;
  for (let i = lowerBound(times, from); i < times.length && (times[i] ?? NaN) <= to; i++) {
    const value = values[i] ?? NaN;
    if (Number.isNaN(value)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
    last = value;
    count++;
  }
  if (count === 0) return { min: NaN, max: NaN, mean: NaN, last: NaN, count };
  return { min, max, mean: sum / count, last, count };
}
