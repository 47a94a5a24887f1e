// All functions of the language: one row each, read by analysis, completion and the reference page.
import {
  checkCount,
  ofCount,
  ofDistinct,
  ofField,
  ofIntegral,
  ofMovingAverage,
  ofNumbers,
  ofPercentile,
  ofPoints,
  ofPointsPerUnit,
  ofPredictor,
  ofRanking,
  ofSample,
  ofTechnical,
} from './check-arguments.ts';
import type { ArgumentCheck } from './check-arguments.ts';

export type FunctionKind = 'aggregate' | 'selector' | 'transformation' | 'predictor' | 'math';

/** Field types that a wildcard or regular expression as the first argument expands to. */
export type Acceptance = 'any' | 'ordered' | 'numeric' | 'float-integer';

export type FunctionSpec = {
  readonly name: string;
  readonly kind: FunctionKind;
  readonly minArguments: number;
  /** `Infinity` where there is no bound. */
  readonly maxArguments: number;
  readonly accepts: Acceptance;
  readonly doc: string;
  /** Throws `InvalidRequest` unless the arguments of a call are well formed. */
  readonly check: ArgumentCheck;
};

function row(
  name: string,
  kind: FunctionKind,
  [minArguments, maxArguments]: readonly [number, number],
  accepts: Acceptance,
  doc: string,
  check: ArgumentCheck = ofField,
): FunctionSpec {
  const counted: ArgumentCheck = (call, context, inner) => {
    checkCount(call, [minArguments, maxArguments]);
    check(call, context, inner);
  };
  return { name, kind, minArguments, maxArguments, accepts, doc, check: counted };
}

function math(name: string, count: readonly [number, number], doc: string): FunctionSpec {
  return row(name, 'math', count, 'numeric', doc, ofNumbers);
}

const SPECS: readonly FunctionSpec[] = [
  row('count', 'aggregate', [1, 1], 'any', 'number of values that are not null', ofCount),
  {
    ...row('distinct', 'aggregate', [1, 1], 'any', 'the different values, by first occurrence'),
    check: ofDistinct,
  },
  row('sum', 'aggregate', [1, 1], 'numeric', 'sum of the values; integers wrap'),
  row('mean', 'aggregate', [1, 1], 'numeric', 'arithmetic mean'),
  row('median', 'aggregate', [1, 1], 'numeric', 'middle value'),
  row('mode', 'aggregate', [1, 1], 'any', 'most frequent value'),
  row('spread', 'aggregate', [1, 1], 'numeric', 'largest minus smallest value'),
  row('stddev', 'aggregate', [1, 1], 'numeric', 'standard deviation of the sample'),
  row(
    'integral',
    'aggregate',
    [1, 2],
    'numeric',
    'area under the curve per unit of time',
    ofIntegral,
  ),
  row('first', 'selector', [1, 1], 'any', 'the oldest value'),
  row('last', 'selector', [1, 1], 'any', 'the newest value'),
  row('min', 'selector', [1, 1], 'ordered', 'the smallest value'),
  row('max', 'selector', [1, 1], 'ordered', 'the largest value'),
  row(
    'percentile',
    'selector',
    [2, 2],
    'numeric',
    'the value at a percentile, nearest rank',
    ofPercentile,
  ),
  row('sample', 'selector', [2, 2], 'any', 'a random sample of values', ofSample),
  row('top', 'selector', [2, Infinity], 'numeric', 'the largest values', ofRanking),
  row('bottom', 'selector', [2, Infinity], 'numeric', 'the smallest values', ofRanking),
  row(
    'derivative',
    'transformation',
    [1, 2],
    'numeric',
    'rate of change per unit of time',
    ofPointsPerUnit,
  ),
  row(
    'non_negative_derivative',
    'transformation',
    [1, 2],
    'numeric',
    'derivative without negative results',
    ofPointsPerUnit,
  ),
  row(
    'difference',
    'transformation',
    [1, 1],
    'numeric',
    'difference to the value before',
    ofPoints,
  ),
  row(
    'non_negative_difference',
    'transformation',
    [1, 1],
    'numeric',
    'difference without negative results',
    ofPoints,
  ),
  row('cumulative_sum', 'transformation', [1, 1], 'numeric', 'running total', ofPoints),
  row(
    'moving_average',
    'transformation',
    [2, 2],
    'numeric',
    'mean of the last N values',
    ofMovingAverage,
  ),
  row('elapsed', 'transformation', [1, 2], 'any', 'time since the value before', ofPointsPerUnit),
  row(
    'exponential_moving_average',
    'transformation',
    [2, 4],
    'numeric',
    'exponentially weighted mean',
    ofTechnical(),
  ),
  row(
    'double_exponential_moving_average',
    'transformation',
    [2, 4],
    'numeric',
    'DEMA',
    ofTechnical(),
  ),
  row(
    'triple_exponential_moving_average',
    'transformation',
    [2, 4],
    'numeric',
    'TEMA',
    ofTechnical(),
  ),
  row('relative_strength_index', 'transformation', [2, 4], 'numeric', 'RSI', ofTechnical()),
  row(
    'triple_exponential_derivative',
    'transformation',
    [2, 4],
    'numeric',
    'TRIX',
    ofTechnical({ leastHold: 1n }),
  ),
  row(
    'kaufmans_efficiency_ratio',
    'transformation',
    [2, 3],
    'numeric',
    'efficiency ratio',
    ofTechnical(),
  ),
  row(
    'kaufmans_adaptive_moving_average',
    'transformation',
    [2, 3],
    'numeric',
    'KAMA',
    ofTechnical(),
  ),
  row(
    'chande_momentum_oscillator',
    'transformation',
    [2, 4],
    'numeric',
    'CMO',
    ofTechnical({ warmUps: ['none', 'exponential', 'simple'] }),
  ),
  row('holt_winters', 'predictor', [3, 3], 'float-integer', 'predicted values', ofPredictor),
  row(
    'holt_winters_with_fit',
    'predictor',
    [3, 3],
    'float-integer',
    'fitted and predicted values',
    ofPredictor,
  ),
  math('abs', [1, 1], 'absolute value'),
  math('floor', [1, 1], 'rounded down'),
  math('ceil', [1, 1], 'rounded up'),
  math('round', [1, 1], 'rounded to the nearest whole number'),
  math('sin', [1, 1], 'sine of radians'),
  math('cos', [1, 1], 'cosine of radians'),
  math('tan', [1, 1], 'tangent of radians'),
  math('asin', [1, 1], 'arcsine'),
  math('acos', [1, 1], 'arccosine'),
  math('atan', [1, 1], 'arctangent'),
  math('atan2', [2, 2], 'angle of the point (x, y), given as y, x'),
  math('exp', [1, 1], 'e to the power of the value'),
  math('ln', [1, 1], 'natural logarithm'),
  math('log', [2, 2], 'logarithm to a base'),
  math('log2', [1, 1], 'logarithm to the base 2'),
  math('log10', [1, 1], 'logarithm to the base 10'),
  math('pow', [2, 2], 'value to a power'),
  math('sqrt', [1, 1], 'square root'),
];

/** Every function by its lower-case name. */
export const FUNCTIONS: ReadonlyMap<string, FunctionSpec> = new Map(
  SPECS.map((spec) => [spec.name, spec]),
);

/** Whether a function selects points by rank. */
export function isRanking(name: string): name is 'top' | 'bottom' {
  return name === 'top' || name === 'bottom';
}

export function isMathFunction(name: string): boolean {
  return FUNCTIONS.get(name)?.kind === 'math';
}
