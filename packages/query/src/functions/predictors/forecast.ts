// Predictions with a level, a damped trend and multiplicative seasons (Holt and Winters).
//
// The parameters are those with the smallest sum of squared errors, searched from sixteen starting points. Start values
// and steps are those of the implementation whose results clients know. Tasks share this file
// (`@tidemark/query/forecast`), so that both give the same numbers.
import { floorMod } from '@tidemark/core';

import type { Steps } from '../steps.ts';
import { STEP_ITEMS } from '../steps.ts';
import { minimise, simplexBytes } from './nelder-mead.ts';
import type { Minimum } from './nelder-mead.ts';

export { finishSteps } from '../steps.ts';

export type ForecastOptions = {
  /** How many values follow the last one, an interval apart. */
  readonly predictions: number;
  /** Length of a season in points; 0 and 1 mean that there is none. */
  readonly seasonLength: number;
  readonly intervalNanos: bigint;
  /** Gives the fitted values of the past, too. */
  readonly withFit: boolean;
};

/** Values an interval apart, the first one at `start`; NaN where there is none. */
export type Forecast = { readonly start: bigint; readonly values: Float64Array };

/** Bytes of a value on its way out: the recurrence's, the point's time and value, once more each. */
const PREDICTION_BYTES = 32;

const STARTS = [0.3, 0.7];
const EPSILON = 1e-4;
/** Share of the first value, and of the first step, that a series without seasons starts with. */
const START_SHARE = 0.5;

/** Where the parts of a parameter vector are: four factors, level, trend, then the seasons. */
const ALPHA = 0;
const BETA = 1;
const GAMMA = 2;
const PHI = 3;
const LEVEL = 4;
const TREND = 5;
const SEASONS = 6;

/** What a forecast of points between two times takes, with `slots`, the length of the series that they are put into. */
export function forecastSize(
  first: bigint,
  last: bigint,
  { predictions, seasonLength, intervalNanos }: ForecastOptions,
): { readonly slots: number; readonly sizeBytes: number } {
  const slots = Number((last - first) / intervalNanos) + 2;
  const sizeBytes = (slots + predictions) * PREDICTION_BYTES + simplexBytes(SEASONS + seasonLength);
  return { slots, sizeBytes };
}

/** Nothing for fewer than two points or less than one season. */
export function* forecast(
  times: readonly bigint[],
  values: readonly number[],
  options: ForecastOptions,
): Steps<Forecast | undefined> {
  const first = times[0];
  const last = times.at(-1);
  const { seasonLength, predictions, intervalNanos, withFit } = options;
  if (first === undefined || last === undefined || values.length < 2) return undefined;
  if (seasonLength > 1 && values.length < seasonLength) return undefined;
  const series = yield* evenlySpaced(times, values, intervalNanos);
  if (series.length < 2) return undefined;
  const season = seasonLength > 1 ? seasonLength : 0;
  const fitted = yield* new Model(series, season).forecast(predictions);
  return withFit
    ? { start: first, values: fitted }
    : { start: last + intervalNanos, values: fitted.subarray(series.length) };
}

/** Values at multiples of the interval, NaN where there is none; of several at one place the first. */
function* evenlySpaced(
  times: readonly bigint[],
  values: readonly number[],
  interval: bigint,
): Steps<Float64Array> {
  const spaced: number[] = [];
  let next: bigint | undefined;
  for (const [i, exact] of times.entries()) {
    const time = rounded(exact, interval);
    next ??= time;
    if (time < next) continue;
    while (next !== time) {
      spaced.push(NaN);
      next += interval;
      if (spaced.length % STEP_ITEMS === 0) yield;
    }
    spaced.push(values[i] ?? NaN);
    next += interval;
    if (spaced.length % STEP_ITEMS === 0) yield;
  }
  return Float64Array.from(spaced);
}

/** The nearest multiple of the interval; half an interval is rounded down. */
function rounded(time: bigint, interval: bigint): bigint {
  const rest = floorMod(time, interval);
  return rest > interval / 2n ? time - rest + interval : time - rest;
}

class Model {
  readonly #series: Float64Array;
  readonly #season: number;
  /** Values and parameters that were worked on since others could run. */
  #worked = 0;

  constructor(series: Float64Array, season: number) {
    this.#series = series;
    this.#season = season;
  }

  /** Fitted values of the series, followed by `count` predictions. */
  *forecast(count: number): Steps<Float64Array> {
    const start = this.#startParameters();
    let best: Minimum | undefined;
    for (const alpha of STARTS) {
      for (const beta of STARTS) {
        for (const gamma of STARTS) {
          for (const phi of STARTS) {
            start.set([alpha, beta, gamma, phi]);
            const found = yield* minimise((point) => this.#squaredError(point), start, EPSILON);
            if (best === undefined || found.value < best.value) best = found;
          }
        }
      }
    }
    return yield* this.#run(count, best?.point ?? start);
  }

  #startParameters(): Float64Array {
    const season = this.#season;
    const series = this.#series;
    const parameters = new Float64Array(SEASONS + season);
    if (season === 0) {
      const first = series[0] ?? NaN;
      const second = series[1] ?? NaN;
      parameters[LEVEL] = START_SHARE * first;
      parameters[TREND] = Number.isNaN(second) ? 0 : START_SHARE * (second - first);
      return parameters;
    }
    let level = 0;
    let trend = 0;
    for (let i = 0; i < season; i++) {
      const value = series[i] ?? NaN;
      const later = series[season + i] ?? NaN;
      if (!Number.isNaN(value)) level += (1 / season) * value;
      if (!Number.isNaN(later - value)) trend += (1 / (season * season)) * (later - value);
    }
    parameters[LEVEL] = level;
    parameters[TREND] = trend;
    for (let i = 0; i < season; i++) {
      const value = series[i] ?? NaN;
      parameters[SEASONS + i] = Number.isNaN(value) ? 0 : value / level;
    }
    return parameters;
  }

  *#squaredError(parameters: Float64Array): Steps<number> {
    const fitted = yield* this.#run(0, parameters);
    let error = 0;
    for (let i = 0; i < fitted.length; i++) {
      const value = this.#series[i] ?? NaN;
      if (Number.isNaN(value)) continue;
      const distance = (fitted[i] ?? NaN) - value;
      if (Number.isNaN(distance)) return Infinity;
      error += distance * distance;
    }
    return error;
  }

  /**
   * Runs the recurrence from the first value on. It changes `parameters`: factors are moved into [0, 1] and seasons are
   * carried forward in place; the search goes on from there, and the numbers clients know depend on it.
   */
  *#run(count: number, parameters: Float64Array): Steps<Float64Array> {
    // A search takes steps in all dimensions around each of these runs.
    this.#worked += parameters.length * parameters.length;
    for (const factor of [ALPHA, BETA, GAMMA, PHI]) {
      parameters[factor] = Math.min(1, Math.max(0, parameters[factor] ?? 0));
    }
    const [alpha = 0, beta = 0, gamma = 0, phi = 0] = parameters;
    const season = this.#season;
    const seasons = parameters.subarray(SEASONS);
    const length = this.#series.length + count;
    const result = new Float64Array(length);
    let value = this.#series[0] ?? NaN;
    let level = parameters[LEVEL] ?? 0;
    let trend = parameters[TREND] ?? 0;
    let damping = phi;
    let offset = season - 1;
    result[0] = value;
    for (let t = 1; t < length; t++) {
      const at = season === 0 ? 0 : (t - season + offset) % season;
      const ahead = season === 0 ? 0 : (t - season + (t % season) + offset) % season;
      const old = season === 0 ? 1 : (seasons[at] ?? 1);
      const coming = season === 0 ? 1 : (seasons[ahead] ?? 1);
      const expected = level + phi * trend;
      const newLevel = alpha * (value / old) + (1 - alpha) * expected;
      const newTrend = beta * (newLevel - level) + (1 - beta) * phi * trend;
      const newSeason = gamma * (value / expected) + (1 - gamma) * old;
      value = (newLevel + damping * newTrend) * coming;
      level = newLevel;
      trend = newTrend;
      damping += phi ** t;
      if (season > 0) {
        seasons[(t + offset) % season] = newSeason;
        offset++;
      }
      result[t] = value;
      if (++this.#worked >= STEP_ITEMS) {
        this.#worked = 0;
        yield;
      }
    }
    return result;
  }
}
