// Holt-Winters: damped trend, multiplicative season, parameters found by the Nelder-Mead method.
import type { Aggregate, AggregateResult, Samples } from './aggregate.ts';
import { NUMBERS } from './aggregate.ts';

export type HoltWinters = {
  /** Number of forecasts. */
  readonly forecastCount: number;
  /** Values per season; below two there is none. */
  readonly season: number;
  readonly intervalNanos: bigint;
  readonly isIncludingFit: boolean;
};

/** Series longer than this are too long to fit in reasonable time. */
const BUCKETS_MAX = 100_000;

export function holtWinters(options: HoltWinters): Aggregate {
  return {
    types: NUMBERS,
    isMany: true,
    apply: (samples) => forecast(samples, options),
  };
}

function forecast(samples: Samples, options: HoltWinters): AggregateResult[] {
  const { forecastCount, season, isIncludingFit } = options;
  const interval = options.intervalNanos > 0n ? options.intervalNanos : 1n;
  const isSeasonal = season >= 2;
  const count = samples.values.length;
  if (count < 2 || (isSeasonal && count < season) || forecastCount <= 0) return [];
  const start = samples.points[0]?.time ?? 0n;
  const values = buckets(samples, start, interval);
  if (values.length < 2 || values.length > BUCKETS_MAX) return [];
  const fitted = fit(values, isSeasonal ? season : 0, forecastCount);
  const first = isIncludingFit ? 0 : values.length;
  return fitted.slice(first).map((value, i) => ({
    value,
    type: 'float' as const,
    time: start + interval * BigInt(first + i),
    isAtPoint: true,
    isAlwaysTimed: true,
  }));
}

/** One value per interval, NaN where there is none. */
function buckets(samples: Samples, start: bigint, interval: bigint): number[] {
  const values: number[] = [];
  samples.values.forEach((value, i) => {
    const since = (samples.points[i]?.time ?? start) - start;
    const bucket = Number((since + interval / 2n) / interval);
    if (bucket < 0 || bucket > BUCKETS_MAX) return;
    while (values.length <= bucket) values.push(NaN);
    values[bucket] = Number(value);
  });
  return values;
}

type Start = {
  readonly level: number;
  readonly trend: number;
  readonly seasons: readonly number[];
};

function startOf(values: readonly number[], season: number): Start {
  const known = (i: number): number => {
    const value = values[i];
    return value === undefined || Number.isNaN(value) ? 0 : value;
  };
  if (season === 0) return { level: known(0), trend: known(1) - known(0), seasons: [] };
  let level = 0;
  let trend = 0;
  for (let i = 0; i < season; i++) {
    level += known(i) / season;
    if (season + i < values.length) trend += (known(season + i) - known(i)) / (season * season);
  }
  const seasons = Array.from({ length: season }, (_, i) => (level === 0 ? 1 : known(i) / level));
  return { level, trend, seasons };
}

/** Fitted values for the whole series and `more` beyond its end. */
function simulate(
  values: readonly number[],
  from: Start,
  parameters: readonly number[],
  more: number,
): number[] {
  const [alpha = 0, beta = 0, gamma = 0, phi = 0] = parameters;
  const seasons = [...from.seasons];
  const isSeasonal = seasons.length > 0;
  let { level, trend } = from;
  let damped = phi;
  let power = phi;
  const out: number[] = [level * (seasons[0] ?? 1)];
  for (let t = 1; t < values.length + more; t++) {
    const at = isSeasonal ? t % seasons.length : 0;
    const factor = isSeasonal ? (seasons[at] ?? 1) : 1;
    if (t >= values.length) {
      out.push((level + damped * trend) * factor);
      power *= phi;
      damped += power;
      continue;
    }
    const expected = (level + phi * trend) * factor;
    out.push(expected);
    const value = values[t];
    const observed = value === undefined || Number.isNaN(value) ? expected : value;
    const before = level;
    level = (alpha * observed) / (factor === 0 ? 1 : factor) + (1 - alpha) * (level + phi * trend);
    trend = beta * (level - before) + (1 - beta) * phi * trend;
    if (isSeasonal)
      seasons[at] = gamma * (level === 0 ? 0 : observed / level) + (1 - gamma) * factor;
  }
  return out;
}

function fit(values: readonly number[], season: number, more: number): number[] {
  const from = startOf(values, season);
  const error = (parameters: readonly number[]): number => {
    if (parameters.some((p) => p < 0 || p > 1)) return Infinity;
    const simulated = simulate(values, from, parameters, 0);
    let sum = 0;
    values.forEach((value, i) => {
      if (!Number.isNaN(value)) sum += (value - (simulated[i] ?? 0)) ** 2;
    });
    return Number.isNaN(sum) ? Infinity : sum;
  };
  let best: readonly number[] = [0.5, 0.5, 0.5, 0.5];
  let bestError = error(best);
  for (const guess of guesses(season > 0)) {
    const found = nelderMead(error, guess);
    const foundError = error(found);
    if (foundError < bestError) [best, bestError] = [found, foundError];
  }
  return simulate(values, from, best, more);
}

/** A grid of starting points. */
function guesses(isSeasonal: boolean): number[][] {
  const steps = [0.25, 0.5, 0.9];
  const result: number[][] = [];
  for (const alpha of steps) {
    for (const beta of steps) {
      for (const gamma of isSeasonal ? steps : [0.5]) {
        for (const phi of [0.5, 0.9]) result.push([alpha, beta, gamma, phi]);
      }
    }
  }
  return result;
}

const ITERATIONS_MAX = 500;

/** Minimises without derivatives: reflects, expands, contracts and shrinks a simplex. */
function nelderMead(
  f: (x: readonly number[]) => number,
  start: readonly number[],
): readonly number[] {
  type Vertex = { readonly x: readonly number[]; readonly f: number };
  const vertex = (x: readonly number[]): Vertex => ({ x, f: f(x) });
  const simplex: Vertex[] = [vertex(start)];
  for (let i = 0; i < start.length; i++) {
    simplex.push(vertex(start.map((value, k) => (k === i ? value * 0.8 : value))));
  }
  for (let iteration = 0; iteration < ITERATIONS_MAX; iteration++) {
    simplex.sort((a, b) => a.f - b.f);
    const best = simplex[0] as Vertex;
    const worst = simplex.at(-1) as Vertex;
    if (worst.f - best.f <= 1e-10 * (Math.abs(best.f) + 1e-12)) break;
    const centre = start.map((_, k) => {
      let sum = 0;
      for (const each of simplex.slice(0, -1)) sum += each.x[k] ?? 0;
      return sum / start.length;
    });
    const along = (t: number): Vertex =>
      vertex(centre.map((c, k) => c + t * ((worst.x[k] ?? 0) - c)));
    const reflected = along(-1);
    const second = simplex.at(-2) as Vertex;
    let replacement: Vertex | undefined;
    if (reflected.f < best.f) {
      const expanded = along(-2);
      replacement = expanded.f < reflected.f ? expanded : reflected;
    } else if (reflected.f < second.f) {
      replacement = reflected;
    } else {
      const contracted = along(reflected.f < worst.f ? -0.5 : 0.5);
      if (contracted.f < Math.min(reflected.f, worst.f)) replacement = contracted;
    }
    if (replacement !== undefined) simplex[simplex.length - 1] = replacement;
    else {
      for (let i = 1; i < simplex.length; i++) {
        const { x } = simplex[i] as Vertex;
        simplex[i] = vertex(x.map((value, k) => ((best.x[k] ?? 0) + value) / 2));
      }
    }
  }
  simplex.sort((a, b) => a.f - b.f);
  return (simplex[0] as Vertex).x;
}
