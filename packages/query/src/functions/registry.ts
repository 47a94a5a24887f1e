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
  WARM_UPS,
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

type Count = readonly [least: number, most: number];
type Row = readonly [name: string, count: Count, doc: string, check?: ArgumentCheck];

/** Functions of one kind that take the same fields; a single field if nothing else is checked. */
function rows(
  kind: FunctionKind,
  accepts: Acceptance,
  list: readonly Row[],
): readonly FunctionSpec[] {
  return list.map(([name, count, doc, check = ofField]) => ({
    name,
    kind,
    minArguments: count[0],
    maxArguments: count[1],
    accepts,
    doc,
    check: (call, context, inner) => {
      checkCount(call, count);
      check(call, context, inner);
    },
  }));
}

const SPECS: readonly FunctionSpec[] = [
  {
    name: 'distinct',
    kind: 'aggregate',
    minArguments: 1,
    maxArguments: 1,
    accepts: 'any',
    doc: 'the different values, by first occurrence',
    check: ofDistinct,
  },
  ...rows('aggregate', 'any', [
    ['count', [1, 1], 'number of values that are not null', ofCount],
    ['mode', [1, 1], 'most frequent value'],
  ]),
  ...rows('aggregate', 'numeric', [
    ['sum', [1, 1], 'sum of the values; integers wrap'],
    ['mean', [1, 1], 'arithmetic mean'],
    ['median', [1, 1], 'middle value'],
    ['spread', [1, 1], 'largest minus smallest value'],
    ['stddev', [1, 1], 'standard deviation of the sample'],
    ['integral', [1, 2], 'area under the curve per unit of time', ofIntegral],
  ]),
  ...rows('selector', 'any', [
    ['first', [1, 1], 'the oldest value'],
    ['last', [1, 1], 'the newest value'],
    ['sample', [2, 2], 'a random sample of values', ofSample],
  ]),
  ...rows('selector', 'ordered', [
    ['min', [1, 1], 'the smallest value'],
    ['max', [1, 1], 'the largest value'],
  ]),
  ...rows('selector', 'numeric', [
    ['percentile', [2, 2], 'the value at a percentile, nearest rank', ofPercentile],
    ['top', [2, Infinity], 'the largest values', ofRanking],
    ['bottom', [2, Infinity], 'the smallest values', ofRanking],
  ]),
  ...rows('transformation', 'any', [
    ['elapsed', [1, 2], 'time since the value before', ofPointsPerUnit],
  ]),
  ...rows('transformation', 'numeric', [
    ['derivative', [1, 2], 'rate of change per unit of time', ofPointsPerUnit],
    ['non_negative_derivative', [1, 2], 'derivative without negative results', ofPointsPerUnit],
    ['difference', [1, 1], 'difference to the value before', ofPoints],
    ['non_negative_difference', [1, 1], 'difference without negative results', ofPoints],
    ['cumulative_sum', [1, 1], 'running total', ofPoints],
    ['moving_average', [2, 2], 'mean of the last N values', ofMovingAverage],
    ['exponential_moving_average', [2, 4], 'exponentially weighted mean', ofTechnical()],
    ['double_exponential_moving_average', [2, 4], 'DEMA', ofTechnical()],
    ['triple_exponential_moving_average', [2, 4], 'TEMA', ofTechnical()],
    ['relative_strength_index', [2, 4], 'RSI', ofTechnical()],
    ['triple_exponential_derivative', [2, 4], 'TRIX', ofTechnical({ leastHold: 1n })],
    ['kaufmans_efficiency_ratio', [2, 3], 'efficiency ratio', ofTechnical()],
    ['kaufmans_adaptive_moving_average', [2, 3], 'KAMA', ofTechnical()],
    ['chande_momentum_oscillator', [2, 4], 'CMO', ofTechnical({ warmUps: ['none', ...WARM_UPS] })],
  ]),
  ...rows('predictor', 'float-integer', [
    ['holt_winters', [3, 3], 'predicted values', ofPredictor],
    ['holt_winters_with_fit', [3, 3], 'fitted and predicted values', ofPredictor],
  ]),
  ...rows('math', 'numeric', [
    ['abs', [1, 1], 'absolute value', ofNumbers],
    ['floor', [1, 1], 'rounded down', ofNumbers],
    ['ceil', [1, 1], 'rounded up', ofNumbers],
    ['round', [1, 1], 'rounded to the nearest whole number', ofNumbers],
    ['sin', [1, 1], 'sine of radians', ofNumbers],
    ['cos', [1, 1], 'cosine of radians', ofNumbers],
    ['tan', [1, 1], 'tangent of radians', ofNumbers],
    ['asin', [1, 1], 'arcsine', ofNumbers],
    ['acos', [1, 1], 'arccosine', ofNumbers],
    ['atan', [1, 1], 'arctangent', ofNumbers],
    ['atan2', [2, 2], 'angle of the point (x, y), given as y, x', ofNumbers],
    ['exp', [1, 1], 'e to the power of the value', ofNumbers],
    ['ln', [1, 1], 'natural logarithm', ofNumbers],
    ['log', [2, 2], 'logarithm to a base', ofNumbers],
    ['log2', [1, 1], 'logarithm to the base 2', ofNumbers],
    ['log10', [1, 1], 'logarithm to the base 10', ofNumbers],
    ['pow', [2, 2], 'value to a power', ofNumbers],
    ['sqrt', [1, 1], 'square root', ofNumbers],
  ]),
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
