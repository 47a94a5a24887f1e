// Creates transformations from their specifications.
import { unreachable } from '@tidemark/core';

import { holtWinters } from './predictors/holt-winters.ts';
import type {
  Transformation,
  TransformationContext,
  TransformationSpec,
} from './transformation.ts';
import { chandeMomentumOscillator } from './transformations/chande-momentum-oscillator.ts';
import { cumulativeSum } from './transformations/cumulative-sum.ts';
import { derivative } from './transformations/derivative.ts';
import { difference } from './transformations/difference.ts';
import { elapsed } from './transformations/elapsed.ts';
import {
  doubleExponentialMovingAverage,
  exponentialMovingAverage,
  tripleExponentialMovingAverage,
} from './transformations/exponential-moving-average.ts';
import { integral } from './transformations/integral.ts';
import {
  kaufmansAdaptiveMovingAverage,
  kaufmansEfficiencyRatio,
} from './transformations/kaufmans.ts';
import { movingAverage } from './transformations/moving-average.ts';
import { relativeStrengthIndex } from './transformations/relative-strength-index.ts';
import { tripleExponentialDerivative } from './transformations/triple-exponential-derivative.ts';

/** A running transformation for one group. */
export function createTransformation(
  spec: TransformationSpec,
  context: TransformationContext,
): Transformation {
  switch (spec.kind) {
    case 'derivative':
      return derivative({ unitNanos: spec.unitNanos, isNonNegative: false }, context);
    case 'non_negative_derivative':
      return derivative({ unitNanos: spec.unitNanos, isNonNegative: true }, context);
    case 'difference':
      return difference({ isNonNegative: false }, context);
    case 'non_negative_difference':
      return difference({ isNonNegative: true }, context);
    case 'cumulative_sum':
      return cumulativeSum(context);
    case 'moving_average':
      return movingAverage(spec, context);
    case 'elapsed':
      return elapsed(spec);
    case 'integral':
      return integral(spec, context);
    case 'exponential_moving_average':
      return exponentialMovingAverage(spec);
    case 'double_exponential_moving_average':
      return doubleExponentialMovingAverage(spec);
    case 'triple_exponential_moving_average':
      return tripleExponentialMovingAverage(spec);
    case 'relative_strength_index':
      return relativeStrengthIndex(spec);
    case 'triple_exponential_derivative':
      return tripleExponentialDerivative(spec);
    case 'kaufmans_efficiency_ratio':
      return kaufmansEfficiencyRatio(spec, context);
    case 'kaufmans_adaptive_moving_average':
      return kaufmansAdaptiveMovingAverage(spec, context);
    case 'chande_momentum_oscillator':
      return chandeMomentumOscillator(spec, context);
    case 'holt_winters':
      return holtWinters({ ...spec, withFit: false }, context);
    case 'holt_winters_with_fit':
      return holtWinters({ ...spec, withFit: true }, context);
    default:
      return unreachable(spec);
  }
}
