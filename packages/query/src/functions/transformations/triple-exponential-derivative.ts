// triple_exponential_derivative: rate of change, in percent, of a threefold exponential mean.
import type { Technical, Transformation } from '../transformation.ts';
import { NestedMeans } from './exponential-average.ts';
import { holdPeriod, indicatorTransformation } from './indicator.ts';

/**
 * (mean / previous mean - 1) · 100. The first result would divide by 0, so that at least one is
 * held back.
 */
export function tripleExponentialDerivative(options: Technical): Transformation {
  const { period, warmUp } = options;
  const means = new NestedMeans(3, options);
  let previous = 0;
  function indicator(value: number): number {
    const mean = means.add(value);
    const rate = (mean / previous - 1) * 100;
    previous = mean;
    return rate;
  }

  const natural = warmUp === 'simple' ? 3 * (period - 1) + 1 : period;
  return indicatorTransformation(indicator, holdPeriod(options.hold, natural));
}
