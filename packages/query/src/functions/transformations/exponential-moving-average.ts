// exponential_moving_average and its double and triple forms, which lag less behind the values.
import type { Technical, Transformation } from '../transformation.ts';
import { ExponentialAverage } from './exponential-average.ts';
import { holdPeriod, indicatorTransformation } from './indicator.ts';
import type { Indicator } from './indicator.ts';

/** e1: the exponential mean of the values. Natural hold: period - 1. */
export function exponentialMovingAverage(options: Technical): Transformation {
  const { period, warmUp } = options;
  const first = new ExponentialAverage(period, warmUp);
  return withHold((value) => first.add(value), options, 1);
}

/** 2·e1 - e2, with e2 the mean of e1. */
export function doubleExponentialMovingAverage(options: Technical): Transformation {
  const { period, warmUp } = options;
  const first = new ExponentialAverage(period, warmUp);
  const second = new ExponentialAverage(period, warmUp);
  return withHold(
    (value) => {
      const mean1 = first.add(value);
      const mean2 = first.isUsable ? second.add(mean1) : mean1;
      return 2 * mean1 - mean2;
    },
    options,
    2,
  );
}

/** 3·e1 - 3·e2 + e3, with e3 the mean of e2. */
export function tripleExponentialMovingAverage(options: Technical): Transformation {
  const { period, warmUp } = options;
  const first = new ExponentialAverage(period, warmUp);
  const second = new ExponentialAverage(period, warmUp);
  const third = new ExponentialAverage(period, warmUp);
  return withHold(
    (value) => {
      const mean1 = first.add(value);
      const mean2 = first.isUsable ? second.add(mean1) : mean1;
      const mean3 = first.isUsable && second.isUsable ? third.add(mean2) : mean2;
      return 3 * mean1 - 3 * mean2 + mean3;
    },
    options,
    3,
  );
}

/** Means that warm up with a plain mean wait for each other. */
function withHold(indicator: Indicator, options: Technical, stages: 1 | 2 | 3): Transformation {
  const waits = options.warmUp === 'simple' ? stages : 1;
  return indicatorTransformation(indicator, holdPeriod(options.hold, waits * (options.period - 1)));
}
