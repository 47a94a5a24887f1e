// The nodes which apply one function of the query language to a field: count, mean, max,
// percentile, …
import { parameter, variadic } from '../evaluate/parameter.ts';
import type { Arguments, Parameter } from '../evaluate/parameter.ts';
import { defineNode, flagProperty, stringProperty } from '../node-definition.ts';
import type { NodeDefinition, NodeRow } from '../node-definition.ts';

/**
 * Common to all; nodes with further arguments have a type of their own below. The node's `type`
 * names the function.
 */
export type InfluxqlOptions = {
  readonly field: string;
  /** Name of the result field. */
  readonly as: string;
  readonly isUsingPointTimes: boolean;
};
export type PercentileOptions = InfluxqlOptions & { readonly percentile: number };
/** top and bottom. */
export type TopOptions = InfluxqlOptions & {
  readonly count: bigint;
  readonly fieldsAndTags: readonly string[];
};
export type ElapsedOptions = InfluxqlOptions & { readonly unitNanos: bigint };
export type MovingAverageOptions = InfluxqlOptions & { readonly window: bigint };
/** holtWinters and holtWintersWithFit. */
export type HoltWintersOptions = InfluxqlOptions & {
  readonly forecastCount: bigint;
  readonly season: bigint;
  readonly intervalNanos: bigint;
  readonly isIncludingFit: boolean;
};

type FunctionDefinition<Options extends InfluxqlOptions> = {
  readonly type: string;
  readonly summary: string;
  readonly provides: NodeDefinition<Options>['provides'];
  readonly parameters?: readonly Parameter[];
  readonly create: (values: Arguments, base: (field: string) => InfluxqlOptions) => Options;
};

const FIELD = parameter('field', 'string');

function defineFunction<Options extends InfluxqlOptions>(
  definition: FunctionDefinition<Options>,
): NodeRow {
  const { type, summary, provides, parameters = [FIELD], create } = definition;
  // Both variants of the forecast carry the same name, as recorded.
  const label = type === 'holtWintersWithFit' ? 'holtWinters' : type;
  return defineNode<Options>({
    type,
    label,
    className: 'InfluxQLNode',
    category: 'function',
    summary,
    wants: 'any',
    provides,
    parameters,
    create: (values) => create(values, (field) => ({ field, as: label, isUsingPointTimes: false })),
    properties: [
      stringProperty('as', 'as', 'name of the result field; the name of the function if not given'),
      flagProperty('usePointTimes', 'isUsingPointTimes', 'the result has the time of its point'),
    ],
  });
}

/** A function of one field without further arguments. */
function simple(
  type: string,
  provides: FunctionDefinition<InfluxqlOptions>['provides'],
  summary: string,
): NodeRow {
  return defineFunction<InfluxqlOptions>({
    type,
    summary,
    provides,
    create: (values, base) => base(values.string(0)),
  });
}

function ranked(type: 'top' | 'bottom', summary: string): NodeRow {
  return defineFunction<TopOptions>({
    type,
    summary,
    provides: 'batch',
    parameters: [parameter('count', 'int'), FIELD, variadic('fieldsAndTags', 'string')],
    create: (values, base) => ({
      ...base(values.string(1)),
      count: values.integer(0),
      fieldsAndTags: values.strings(2),
    }),
  });
}

function holtWinters(type: string, isIncludingFit: boolean, summary: string): NodeRow {
  return defineFunction<HoltWintersOptions>({
    type,
    summary,
    provides: 'batch',
    parameters: [
      FIELD,
      parameter('forecastCount', 'int'),
      parameter('season', 'int'),
      parameter('interval', 'duration'),
    ],
    create: (values, base) => ({
      ...base(values.string(0)),
      forecastCount: values.integer(1),
      season: values.integer(2),
      intervalNanos: values.nanos(3),
      isIncludingFit,
    }),
  });
}

const percentile = defineFunction<PercentileOptions>({
  type: 'percentile',
  summary: 'the point whose value is greater than that share of the values, 0.0 to 100.0',
  provides: 'stream',
  parameters: [FIELD, parameter('percentile', 'float')],
  create: (values, base) => ({ ...base(values.string(0)), percentile: values.float(1) }),
});

const elapsed = defineFunction<ElapsedOptions>({
  type: 'elapsed',
  summary: 'time since the previous point in units',
  provides: 'same',
  parameters: [FIELD, parameter('unit', 'duration')],
  create: (values, base) => ({ ...base(values.string(0)), unitNanos: values.nanos(1) }),
});

const movingAverage = defineFunction<MovingAverageOptions>({
  type: 'movingAverage',
  summary: 'mean of the last values',
  provides: 'same',
  parameters: [FIELD, parameter('window', 'int')],
  create: (values, base) => ({ ...base(values.string(0)), window: values.integer(1) }),
});

/** One row per function. */
export const influxqlNodes: readonly NodeRow[] = [
  simple('count', 'stream', 'number of values'),
  simple('distinct', 'batch', 'distinct values'),
  simple('mean', 'stream', 'arithmetic mean'),
  simple('median', 'stream', 'middle value'),
  simple('mode', 'stream', 'most frequent value'),
  simple('spread', 'stream', 'largest minus smallest value'),
  simple('sum', 'stream', 'sum'),
  simple('first', 'stream', 'the oldest point'),
  simple('last', 'stream', 'the newest point'),
  simple('min', 'stream', 'the point with the smallest value'),
  simple('max', 'stream', 'the point with the largest value'),
  percentile,
  ranked(
    'top',
    'the points with the largest values; of those that share the named tags the best one',
  ),
  ranked(
    'bottom',
    'the points with the smallest values; of those that share the named tags the best one',
  ),
  simple('stddev', 'stream', 'standard deviation of a sample'),
  elapsed,
  simple('difference', 'same', 'difference to the previous value'),
  movingAverage,
  simple('cumulativeSum', 'same', 'running sum'),
  holtWinters('holtWinters', false, 'forecast'),
  holtWinters('holtWintersWithFit', true, 'forecast together with the fitted values'),
];
