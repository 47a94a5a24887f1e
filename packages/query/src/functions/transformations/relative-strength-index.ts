// relative_strength_index: how much of the recent movement went up, from 0 to 100.
import type { Transformation, WarmUp } from '../transformation.ts';
import { ExponentialAverage } from './exponential-average.ts';
import { holdOr, indicatorTransformation } from './indicator.ts';

/**
 * 100 - 100 / (1 + up / down), with the exponential means of the moves up and down. The move of the
 * first value is measured from 0. Natural hold: period.
 */
export function relativeStrengthIndex(options: {
  readonly period: number;
  readonly hold: number;
  readonly warmUp: WarmUp;
}): Transformation {
  const { period, warmUp } = options;
  const ups = new ExponentialAverage(period + 1, warmUp, 1 / period);
  const downs = new ExponentialAverage(period + 1, warmUp, 1 / period);
  let previous = 0;

  function indicator(value: number): number {
    const up = ups.add(value > previous ? value - previous : 0);
    const down = downs.add(value < previous ? previous - value : 0);
    previous = value;
    return 100 - 100 / (1 + up / down);
  }

  return indicatorTransformation(indicator, holdOr(options.hold, period));
}
