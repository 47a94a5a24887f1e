// relative_strength_index: how much of the recent movement went up, from 0 to 100.
import type { Technical, Transformation } from '../transformation.ts';
import { ofMoves } from './exponential-average.ts';
import { holdOr, indicatorTransformation } from './indicator.ts';

/** 100 - 100 / (1 + up / down). Natural hold: period. */
export function relativeStrengthIndex(options: Technical): Transformation {
  const indicator = ofMoves(options, (up, down) => 100 - 100 / (1 + up / down));
  return indicatorTransformation(indicator, holdOr(options.hold, options.period));
}
