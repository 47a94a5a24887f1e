// kaufmans_efficiency_ratio and kaufmans_adaptive_moving_average: how straight the recent movement
// was, and a mean that follows straight movements fast and noise slowly.
import type { Period, Transformation, TransformationContext } from '../transformation.ts';
import { holdPeriod, indicatorTransformation } from './indicator.ts';
import { floatRing } from './ring.ts';
import type { Ring } from './ring.ts';

/** Weights of an exponential mean over 2 and over 30 values. */
const SLOWEST = 2 / 31;
// 2/3 - 2/31, rounded once: the difference of the two rounded numbers differs.
const SPAN = 56 / 93;

/**
 * Distance from the value `period` points ago, divided by the sum of the steps in between. Natural
 * hold: period.
 */
export function kaufmansEfficiencyRatio(
  options: Period,
  { hold }: TransformationContext,
): Transformation {
  const ratio = new EfficiencyRatio(options.period, hold);
  const indicator = (value: number): number => ratio.add(value);
  return indicatorTransformation(indicator, holdPeriod(options.hold, options.period), ratio.rings);
}

/**
 * A mean that moves toward each value by a share between the slowest and the fastest. Natural hold:
 * period.
 */
export function kaufmansAdaptiveMovingAverage(
  options: Period,
  { hold }: TransformationContext,
): Transformation {
  const ratio = new EfficiencyRatio(options.period, hold);
  let mean = 0;

  function indicator(value: number): number {
    if (!ratio.isWarm) mean = ratio.latest;
    const share = (ratio.add(value) * SPAN + SLOWEST) ** 2;
    mean += share * (value - mean);
    return mean;
  }

  return indicatorTransformation(indicator, holdPeriod(options.hold, options.period), ratio.rings);
}

/** The values before the first count as 0. */
class EfficiencyRatio {
  readonly #period: number;
  readonly #values: Ring<number>;
  readonly #steps: Ring<number>;
  #count = 0;
  #noise = 0;
  latest = 0;

  constructor(period: number, hold: (bytes: number) => void) {
    this.#period = period;
    this.#values = floatRing(period, hold);
    this.#steps = floatRing(period, hold);
  }

  get rings(): readonly Ring<number>[] {
    return [this.#values, this.#steps];
  }

  /** Whether the value `period` points ago is a real one. */
  get isWarm(): boolean {
    return this.#count > this.#period;
  }

  add(value: number): number {
    const step = Math.abs(value - this.latest);
    const signal = Math.abs(value - this.#values.add(value));
    this.#noise -= this.#steps.add(step);
    this.#noise += step;
    if (!this.isWarm) this.#count++;
    this.latest = value;
    return signal === 0 || this.#noise === 0 ? 0 : signal / this.#noise;
  }
}
