// exponential_moving_average and its double and triple forms, which lag less behind the values.
import type { Technical, Transformation } from '../transformation.ts';
import { NestedMeans } from './exponential-average.ts';
import { holdPeriod, indicatorTransformation } from './indicator.ts';
import type { Indicator } from './indicator.ts';

/** e1: the exponential mean of the values. Natural hold: period - 1. */
export function exponentialMovingAverage(options: Technical): Transformation {
  const means = new NestedMeans(1, options);
  return withHold((value) => means.add(value), options, 1);
}

/** 2·e1 - e2, with e2 the mean of e1. */
export function doubleExponentialMovingAverage(options: Technical): Transformation {
  const means = new NestedMeans(2, options);
  const indicator = (value: number): number => {
    const mean2 = means.add(value);
    return 2 * means.all[0]! - mean2;
  };
  return withHold(indicator, options, 2);
}

/** 3·e1 - 3·e2 + e3, with e3 the mean of e2. */
export function tripleExponentialMovingAverage(options: Technical): Transformation {
  const means = new NestedMeans(3, options);
  const indicator = (value: number): number => {
    const mean3 = means.add(value);
    return 3 * means.all[0]! - 3 * means.all[1]! + mean3;
  };
  return withHold(indicator, options, 3);
}

/** Means that warm up with a plain mean wait for each other. */
function withHold(indicator: Indicator, options: Technical, stages: 1 | 2 | 3): Transformation {
  const waits = options.warmUp === 'simple' ? stages : 1;
  return indicatorTransformation(indicator, holdPeriod(options.hold, waits * (options.period - 1)));
}
