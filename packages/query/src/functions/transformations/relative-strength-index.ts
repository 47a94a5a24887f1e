// relative_strength_index: how much of the recent movement went up, from 0 to 100.
import type { Technical, Transformation } from '../transformation.ts';
import { ofMoves } from './exponential-average.ts';
import { holdPeriod, indicatorTransformation } from './indicator.ts';

/** 100 - 100 / (1 + up / down). Natural hold: period. */
export function relativeStrengthIndex(options: Technical): Transformation {
  const indicator = ofMoves(options, (up, down) => 100 - 100 / (1 + up / down));
  return indicatorTransformation(indicator, holdPeriod(options.hold, options.period));
}
