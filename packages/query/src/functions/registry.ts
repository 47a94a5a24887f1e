// All functions of the language: one row each, read by analysis, completion and the reference page.

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
};

function row(
  name: string,
  kind: FunctionKind,
  [minArguments, maxArguments]: readonly [number, number],
  accepts: Acceptance,
  doc: string,
): FunctionSpec {
  return { name, kind, minArguments, maxArguments, accepts, doc };
}

const SPECS: readonly FunctionSpec[] = [
  row('count', 'aggregate', [1, 1], 'any', 'number of values that are not null'),
  row('distinct', 'aggregate', [1, 1], 'any', 'the different values, by first occurrence'),
  row('sum', 'aggregate', [1, 1], 'numeric', 'sum of the values; integers wrap'),
  row('mean', 'aggregate', [1, 1], 'numeric', 'arithmetic mean'),
  row('median', 'aggregate', [1, 1], 'numeric', 'middle value'),
  row('mode', 'aggregate', [1, 1], 'any', 'most frequent value'),
  row('spread', 'aggregate', [1, 1], 'numeric', 'largest minus smallest value'),
  row('stddev', 'aggregate', [1, 1], 'numeric', 'standard deviation of the sample'),
  row('integral', 'aggregate', [1, 2], 'numeric', 'area under the curve per unit of time'),
  row('first', 'selector', [1, 1], 'any', 'the oldest value'),
  row('last', 'selector', [1, 1], 'any', 'the newest value'),
  row('min', 'selector', [1, 1], 'ordered', 'the smallest value'),
  row('max', 'selector', [1, 1], 'ordered', 'the largest value'),
  row('percentile', 'selector', [2, 2], 'numeric', 'the value at a percentile, nearest rank'),
  row('sample', 'selector', [2, 2], 'any', 'a random sample of values'),
  row('top', 'selector', [2, Infinity], 'numeric', 'the largest values'),
  row('bottom', 'selector', [2, Infinity], 'numeric', 'the smallest values'),
  row('derivative', 'transformation', [1, 2], 'numeric', 'rate of change per unit of time'),
  row(
    'non_negative_derivative',
    'transformation',
    [1, 2],
    'numeric',
    'derivative without negative results',
  ),
  row('difference', 'transformation', [1, 1], 'numeric', 'difference to the value before'),
  row(
    'non_negative_difference',
    'transformation',
    [1, 1],
    'numeric',
    'difference without negative results',
  ),
  row('cumulative_sum', 'transformation', [1, 1], 'numeric', 'running total'),
  row('moving_average', 'transformation', [2, 2], 'numeric', 'mean of the last N values'),
  row('elapsed', 'transformation', [1, 2], 'any', 'time since the value before'),
  row(
    'exponential_moving_average',
    'transformation',
    [2, 4],
    'numeric',
    'exponentially weighted mean',
  ),
  row('double_exponential_moving_average', 'transformation', [2, 4], 'numeric', 'DEMA'),
  row('triple_exponential_moving_average', 'transformation', [2, 4], 'numeric', 'TEMA'),
  row('relative_strength_index', 'transformation', [2, 4], 'numeric', 'RSI'),
  row('triple_exponential_derivative', 'transformation', [2, 4], 'numeric', 'TRIX'),
  row('kaufmans_efficiency_ratio', 'transformation', [2, 3], 'numeric', 'efficiency ratio'),
  row('kaufmans_adaptive_moving_average', 'transformation', [2, 3], 'numeric', 'KAMA'),
  row('chande_momentum_oscillator', 'transformation', [2, 4], 'numeric', 'CMO'),
  row('holt_winters', 'predictor', [3, 3], 'float-integer', 'predicted values'),
  row('holt_winters_with_fit', 'predictor', [3, 3], 'float-integer', 'fitted and predicted values'),
  row('abs', 'math', [1, 1], 'numeric', 'absolute value'),
  row('floor', 'math', [1, 1], 'numeric', 'rounded down'),
  row('ceil', 'math', [1, 1], 'numeric', 'rounded up'),
  row('round', 'math', [1, 1], 'numeric', 'rounded to the nearest whole number'),
  row('sin', 'math', [1, 1], 'numeric', 'sine of radians'),
  row('cos', 'math', [1, 1], 'numeric', 'cosine of radians'),
  row('tan', 'math', [1, 1], 'numeric', 'tangent of radians'),
  row('asin', 'math', [1, 1], 'numeric', 'arcsine'),
  row('acos', 'math', [1, 1], 'numeric', 'arccosine'),
  row('atan', 'math', [1, 1], 'numeric', 'arctangent'),
  row('atan2', 'math', [2, 2], 'numeric', 'angle of the point (x, y), given as y, x'),
  row('exp', 'math', [1, 1], 'numeric', 'e to the power of the value'),
  row('ln', 'math', [1, 1], 'numeric', 'natural logarithm'),
  row('log', 'math', [2, 2], 'numeric', 'logarithm to a base'),
  row('log2', 'math', [1, 1], 'numeric', 'logarithm to the base 2'),
  row('log10', 'math', [1, 1], 'numeric', 'logarithm to the base 10'),
  row('pow', 'math', [2, 2], 'numeric', 'value to a power'),
  row('sqrt', 'math', [1, 1], 'numeric', 'square root'),
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
