// from: selects points of the stream, groups them and truncates or rounds their times.
import { noDimensions, dimensionsOf } from './dimensions.ts';
import { parameter, variadic } from '../evaluate/parameter.ts';
import {
  callProperty,
  defineNode,
  durationProperty,
  flagProperty,
  stringProperty,
} from '../node-definition.ts';
import { conjunction } from '../lambda.ts';
import type { LambdaSpec } from '../pipeline.ts';
import type { Dimensions } from './dimensions.ts';

export type FromOptions = {
  /** Empty matches any. */
  readonly database: string;
  readonly retentionPolicy: string;
  readonly measurement: string;
  /** Repeated calls are joined by AND. */
  readonly where: LambdaSpec | undefined;
  readonly dimensions: Dimensions;
  readonly isGroupedByMeasurement: boolean;
  readonly truncateNanos: bigint;
  readonly roundNanos: bigint;
};

export const fromNode = defineNode<FromOptions>({
  type: 'from',
  label: 'from',
  className: 'FromNode',
  category: 'source',
  summary: 'selects points of the stream',
  wants: 'stream',
  provides: 'stream',
  parameters: [],
  create: () => ({
    database: '',
    retentionPolicy: '',
    measurement: '',
    where: undefined,
    dimensions: noDimensions,
    isGroupedByMeasurement: false,
    truncateNanos: 0n,
    roundNanos: 0n,
  }),
  properties: [
    stringProperty('database', 'database', 'only points of this database'),
    stringProperty('retentionPolicy', 'retentionPolicy', 'only points of this retention policy'),
    stringProperty('measurement', 'measurement', 'only points of this measurement'),
    callProperty(
      'where',
      [parameter('condition', 'lambda')],
      'only points for which the condition is true; repeated calls are joined by AND',
      (options, values) => ({ ...options, where: conjunction(options.where, values.lambda(0)) }),
    ),
    callProperty(
      'groupBy',
      [variadic('tag', 'any')],
      'groups points by tags; * is all tags',
      (options, values) => ({ ...options, dimensions: dimensionsOf(values) }),
    ),
    flagProperty('groupByMeasurement', 'isGroupedByMeasurement', 'groups by measurement too'),
    durationProperty('truncate', 'truncateNanos', 'cuts times to multiples of this'),
    durationProperty('round', 'roundNanos', 'rounds times to multiples of this'),
  ],
});
