// triple_exponential_derivative: rate of change, in percent, of a threefold exponential mean.
import type { Technical, Transformation } from '../transformation.ts';
import { ExponentialAverage } from './exponential-average.ts';
import { holdPeriod, indicatorTransformation } from './indicator.ts';

/**
 * (mean / previous mean - 1) · 100. The first result would divide by 0, so that at least one is
 * held back.
 */
export function tripleExponentialDerivative(options: Technical): Transformation {
  const { period, warmUp } = options;
  const first = new ExponentialAverage(period, warmUp);
  const second = new ExponentialAverage(period, warmUp);
  const third = new ExponentialAverage(period, warmUp);
  let previous = 0;

  function indicator(value: number): number {
    let mean = first.add(value);
    if (first.isUsable) {
      mean = second.add(mean);
      if (second.isUsable) mean = third.add(mean);
    }
    const rate = (mean / previous - 1) * 100;
    previous = mean;
    return rate;
  }

  const natural = warmUp === 'simple' ? 3 * (period - 1) + 1 : period;
  return indicatorTransformation(indicator, holdPeriod(options.hold, natural));
}
