// Predictions with a level, a damped trend and multiplicative seasons (Holt and Winters). The
// parameters are those with the smallest sum of squared errors, searched from sixteen starting
// points. Start values and steps are those of InfluxDB, whose results clients expect. Tasks share
// this file (`@tidemark/query/forecast`), so that both give the same numbers.
import { floorMod } from '@tidemark/core';

import { pow } from '../math/exponential.ts';
import type { Calculation } from '../steps.ts';
import { STEP_ITEMS } from '../steps.ts';
import { minimise, simplexBytes } from './nelder-mead.ts';
import type { Minimum } from './nelder-mead.ts';

export { finishSteps } from '../steps.ts';

export type ForecastOptions = {
  /** Number of values after the last one, an interval apart. */
  readonly predictions: number;
  /** Length of a season in points; 0 and 1 mean that there is none. */
  readonly seasonLength: number;
  readonly intervalNanos: bigint;
  /** Includes the fitted values of the past. */
  readonly withFit: boolean;
};

/** Values an interval apart, the first one at `start`; NaN where there is none. */
export type Forecast = { readonly start: bigint; readonly values: Float64Array };

/** Bytes of a predicted value: in the recurrence, and a time and a value twice. */
const PREDICTION_BYTES = 32;

const STARTS = [0.3, 0.7];
const EPSILON = 1e-4;
/** Share of the first value, and of the first step, with which a series without seasons starts. */
const START_SHARE = 0.5;

/** Where the parts of a parameter vector are: four factors, level, trend, then the seasons. */
const ALPHA = 0;
const BETA = 1;
const GAMMA = 2;
const PHI = 3;
const LEVEL = 4;
const TREND = 5;
const SEASONS = 6;

/**
 * Memory of a forecast of points between two times, and `slots`, the length of the evenly spaced
 * series.
 */
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
): Calculation<Forecast | undefined> {
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

/**
 * Values at multiples of the interval, NaN where there is none; the first of several at one
 * multiple.
 */
function* evenlySpaced(
  times: readonly bigint[],
  values: readonly number[],
  interval: bigint,
): Calculation<Float64Array> {
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
  /** The result of a run; one array for all runs of a search. */
  readonly #fitted: Float64Array;
  /** Values and parameters processed since the last pause. */
  #worked = 0;

  constructor(series: Float64Array, season: number) {
    this.#series = series;
    this.#season = season;
    this.#fitted = new Float64Array(series.length);
  }

  /** Fitted values of the series, followed by `count` predictions. */
  *forecast(count: number): Calculation<Float64Array> {
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
    const values = new Float64Array(this.#series.length + count);
    yield* this.#runInSteps(best?.point ?? start, values);
    return values;
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

  /** Without pauses if there is little to do, otherwise in steps. */
  #squaredError(parameters: Float64Array): number | Calculation<number> {
    // A search takes steps in all dimensions around each of these runs.
    this.#worked += this.#series.length + parameters.length * parameters.length;
    if (this.#worked >= STEP_ITEMS) return this.#squaredErrorInSteps(parameters);
    new Recurrence(this.#start(parameters)).run(this.#fitted, this.#fitted.length);
    return this.#error();
  }

  *#squaredErrorInSteps(parameters: Float64Array): Calculation<number> {
    yield* this.#runInSteps(parameters, this.#fitted);
    return this.#error();
  }

  *#runInSteps(parameters: Float64Array, values: Float64Array): Calculation {
    const recurrence = new Recurrence(this.#start(parameters));
    for (let end = 0; end < values.length;) {
      yield;
      end = Math.min(values.length, end + STEP_ITEMS);
      recurrence.run(values, end);
    }
    this.#worked = 0;
  }

  #start(parameters: Float64Array): ConstructorParameters<typeof Recurrence>[0] {
    return { parameters, season: this.#season, first: this.#series[0] ?? NaN };
  }

  #error(): number {
    const series = this.#series;
    const fitted = this.#fitted;
    let error = 0;
    for (let i = 0; i < fitted.length; i++) {
      const value = series[i] as number;
      if (Number.isNaN(value)) continue;
      const distance = (fitted[i] as number) - value;
      if (Number.isNaN(distance)) return Infinity;
      error += distance * distance;
    }
    return error;
  }
}

/**
 * The recurrence from the first value on. It changes `parameters`: factors are moved into [0, 1]
 * and seasons are carried forward in place; the search goes on from there, and the numbers clients
 * know depend on it.
 */
class Recurrence {
  readonly #parameters: Float64Array;
  readonly #season: number;
  #value: number;
  #level: number;
  #trend: number;
  #damping: number;
  #next = 0;

  constructor(start: {
    readonly parameters: Float64Array;
    readonly season: number;
    readonly first: number;
  }) {
    const { parameters, season, first } = start;
    for (const factor of [ALPHA, BETA, GAMMA, PHI]) {
      parameters[factor] = Math.min(1, Math.max(0, parameters[factor] ?? 0));
    }
    this.#parameters = parameters;
    this.#season = season;
    this.#value = first;
    this.#level = parameters[LEVEL] ?? 0;
    this.#trend = parameters[TREND] ?? 0;
    this.#damping = parameters[PHI] ?? 0;
  }

  /** Writes the values up to `end`. */
  run(values: Float64Array, end: number): void {
    if (this.#next === 0 && end > 0) values[this.#next++] = this.#value;
    const parameters = this.#parameters;
    const season = this.#season;
    const alpha = parameters[ALPHA] as number;
    const beta = parameters[BETA] as number;
    const gamma = parameters[GAMMA] as number;
    const phi = parameters[PHI] as number;
    let value = this.#value;
    let level = this.#level;
    let trend = this.#trend;
    let damping = this.#damping;
    // Powers of numbers below one decrease: once a term adds nothing, no later one does.
    let isSettled = phi === 0;
    // The season of a value, and where it was left by the one before: two further with every value.
    let phase = season === 0 ? 0 : this.#next % season;
    let at = season === 0 ? 0 : (2 * this.#next - 2) % season;
    for (let t = this.#next; t < end; t++) {
      const ahead = at + phase < season ? at + phase : at + phase - season;
      const old = season === 0 ? 1 : (parameters[SEASONS + at] as number);
      const coming = season === 0 ? 1 : (parameters[SEASONS + ahead] as number);
      const expected = level + phi * trend;
      const newLevel = alpha * (value / old) + (1 - alpha) * expected;
      const newTrend = beta * (newLevel - level) + (1 - beta) * phi * trend;
      if (season > 0) {
        parameters[SEASONS + at] = gamma * (value / expected) + (1 - gamma) * old;
        at = at + 2 < season ? at + 2 : at + 2 - season;
        phase = phase + 1 < season ? phase + 1 : 0;
      }
      value = (newLevel + damping * newTrend) * coming;
      level = newLevel;
      trend = newTrend;
      if (phi === 1) damping++;
      else if (!isSettled) {
        // Not a running product: its last digits would lead the search elsewhere.
        const further = damping + pow(phi, t);
        isSettled = further === damping;
        damping = further;
      }
      values[t] = value;
    }
    this.#value = value;
    this.#level = level;
    this.#trend = trend;
    this.#damping = damping;
    this.#next = Math.max(this.#next, end);
  }
}
