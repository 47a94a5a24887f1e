// All transformations: each consists of its implementation and its row.
import type { FieldType } from '@tidemark/core';
import { NANOS_PER_SECOND } from '@tidemark/core';
import type { Call, Expression } from '@tidemark/influxql';

import { integerOf, nanosOf } from './arguments.ts';
import { holtWinters } from './predictors/holt-winters.ts';
import type {
  Transformation,
  TransformationContext,
  TransformationSpec,
  Period,
  WarmUp,
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

type Kind = TransformationSpec['kind'];
type SpecOf<K extends Kind> = TransformationSpec & { readonly kind: K };

type TransformationRow<K extends Kind> = {
  readonly create: (spec: SpecOf<K>, context: TransformationContext) => Transformation;
  /** Reads the arguments of a checked call; `everyNanos` is the interval of GROUP BY time. */
  readonly read: (call: Call, everyNanos: bigint | undefined) => Omit<SpecOf<K>, 'kind'>;
  /** Type of its values; `input` is that of its argument. */
  readonly type: FieldType | 'input';
  /** Windows before the range that are read: one, however many it averages (recorded). */
  readonly windowsBefore: 0 | 1;
  /** Windows by which it widens what subqueries may read ahead (recorded). */
  readonly windowsShifted: (spec: SpecOf<K>) => number;
};

const NOTHING = () => ({});
const LOOKS_BACK = { windowsBefore: 1, windowsShifted: () => 1 } as const;
const LOOKS_AT_RANGE = { windowsBefore: 0, windowsShifted: () => 0 } as const;

/** `…(field, period, hold, warm-up)`. */
const TECHNICAL = {
  type: 'float',
  read: ({ arguments: given }: Call) => ({
    ...periodOf(given),
    warmUp: warmUpOf(given[3]) ?? 'exponential',
  }),
  windowsBefore: 1,
  windowsShifted: ({ period }: { readonly period: number }) => period,
} as const;

const KAUFMAN = { ...TECHNICAL, read: ({ arguments: given }: Call) => periodOf(given) } as const;

const PREDICTOR = {
  type: 'float',
  read: ({ arguments: [, predictions, season] }: Call, everyNanos: bigint | undefined) => ({
    predictions: integerOf(predictions),
    seasonLength: integerOf(season),
    intervalNanos: everyNanos ?? 1n,
  }),
  ...LOOKS_AT_RANGE,
} as const;

const PER_UNIT = {
  type: 'float',
  read: ({ arguments: [, unit] }: Call, everyNanos: bigint | undefined) => ({
    unitNanos: nanosOf(unit) ?? everyNanos ?? NANOS_PER_SECOND,
  }),
  ...LOOKS_BACK,
} as const;

const TRANSFORMATIONS: { readonly [K in Kind]: TransformationRow<K> } = {
  derivative: {
    ...PER_UNIT,
    create: (spec, context) => derivative({ ...spec, isNonNegative: false }, context),
  },
  non_negative_derivative: {
    ...PER_UNIT,
    create: (spec, context) => derivative({ ...spec, isNonNegative: true }, context),
  },
  difference: {
    type: 'input',
    read: NOTHING,
    ...LOOKS_BACK,
    create: (_, context) => difference({ isNonNegative: false }, context),
  },
  non_negative_difference: {
    type: 'input',
    read: NOTHING,
    ...LOOKS_BACK,
    create: (_, context) => difference({ isNonNegative: true }, context),
  },
  cumulative_sum: {
    type: 'input',
    read: NOTHING,
    windowsBefore: 0,
    windowsShifted: () => 1,
    create: (_, context) => cumulativeSum(context),
  },
  moving_average: {
    type: 'float',
    read: ({ arguments: [, points] }) => ({ points: integerOf(points) }),
    windowsBefore: 1,
    windowsShifted: ({ points }) => points,
    create: movingAverage,
  },
  elapsed: {
    type: 'integer',
    read: ({ arguments: [, unit] }) => ({ unitNanos: nanosOf(unit) ?? 1n }),
    ...LOOKS_BACK,
    create: elapsed,
  },
  integral: {
    type: 'float',
    // The windows and the stamp are the plan's and known when it runs.
    read: ({ arguments: [, unit] }) => ({
      unitNanos: nanosOf(unit) ?? NANOS_PER_SECOND,
      windowOf: undefined,
      wholeStamp: 0n,
    }),
    ...LOOKS_AT_RANGE,
    create: integral,
  },
  exponential_moving_average: { ...TECHNICAL, create: exponentialMovingAverage },
  double_exponential_moving_average: { ...TECHNICAL, create: doubleExponentialMovingAverage },
  triple_exponential_moving_average: { ...TECHNICAL, create: tripleExponentialMovingAverage },
  relative_strength_index: { ...TECHNICAL, create: relativeStrengthIndex },
  triple_exponential_derivative: { ...TECHNICAL, create: tripleExponentialDerivative },
  kaufmans_efficiency_ratio: { ...KAUFMAN, create: kaufmansEfficiencyRatio },
  kaufmans_adaptive_moving_average: { ...KAUFMAN, create: kaufmansAdaptiveMovingAverage },
  chande_momentum_oscillator: {
    ...TECHNICAL,
    read: ({ arguments: given }) => ({
      ...periodOf(given),
      warmUp: warmUpOf(given[3]) ?? 'none',
    }),
    create: chandeMomentumOscillator,
  },
  holt_winters: {
    ...PREDICTOR,
    create: (spec, context) => holtWinters({ ...spec, withFit: false }, context),
  },
  holt_winters_with_fit: {
    ...PREDICTOR,
    create: (spec, context) => holtWinters({ ...spec, withFit: true }, context),
  },
};

function periodOf([, period, hold]: readonly Expression[]): Period {
  return { period: integerOf(period), hold: hold?.kind === 'integer' ? integerOf(hold) : -1 };
}

function warmUpOf(node: Expression | undefined): WarmUp | undefined {
  if (node?.kind !== 'string') return undefined;
  return node.value === 'exponential' || node.value === 'simple' ? node.value : undefined;
}

/** The properties of a transformation. */
export function transformationRow<K extends Kind>({ kind }: SpecOf<K>): TransformationRow<K> {
  return TRANSFORMATIONS[kind];
}

/** Whether a function transforms points, one after another. */
export function isTransformation(name: string): boolean {
  return Object.hasOwn(TRANSFORMATIONS, name);
}

/** A checked call as data of a plan; `undefined` if no transformation has its name. */
export function transformationSpec(
  call: Call,
  everyNanos: bigint | undefined,
): TransformationSpec | undefined {
  if (!isTransformation(call.name)) return undefined;
  const kind = call.name as Kind;
  return { kind, ...TRANSFORMATIONS[kind].read(call, everyNanos) } as TransformationSpec;
}

/** A running transformation for one group. */
export function createTransformation(
  spec: TransformationSpec,
  context: TransformationContext,
): Transformation {
  return transformationRow(spec).create(spec, context);
}
