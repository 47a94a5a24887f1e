// from: selects points of the stream, groups them and truncates or rounds their times.
import { parameter, variadic } from '../evaluate/parameter.ts';
import { defineNode } from '../definition/node-definition.ts';
import { callOption, durationOption, flagOption, stringOption } from '../definition/option.ts';
import { conjunction, keepsState } from '../lambda.ts';
import { dimensionsOf, noDimensions, tagsOf } from '../node-parts/dimensions.ts';
import type { Dimensions } from '../node-parts/dimensions.ts';
import type { LambdaSpec } from '../pipeline.ts';

export const fromNode = defineNode({
  type: 'from',
  label: 'from',
  className: 'FromNode',
  category: 'source',
  summary: 'selects points of the stream',
  wants: 'stream',
  provides: 'stream',
  split: ({ where, dimensions }) =>
    keepsState(where)
      ? {
          kind: 'all',
          reason: 'has a condition that counts the points of all groups',
          hint: 'put the condition into |where() behind the grouping',
          properties: ['where'],
        }
      : { kind: 'message', groupsBy: tagsOf(dimensions) },
  follows: ['stream', 'from'],
  hintsBelow: {
    batch: 'written points are read by stream|from()',
    query: 'written points are read by stream|from(); what follows a query has its answer',
  },
  options: {
    /** Empty matches any. */
    database: stringOption('database', 'only points of this database'),
    retentionPolicy: stringOption('retentionPolicy', 'only points of this retention policy'),
    measurement: stringOption('measurement', 'only points of this measurement'),
    where: callOption<LambdaSpec | undefined>(undefined, {
      name: 'where',
      summary: 'only points for which the condition is true; repeated calls are joined by AND',
      parameters: [{ ...parameter('condition', 'lambda'), gives: 'boolean' }],
      apply: (before, values) => conjunction(before, values.lambda(0)),
    }),
    dimensions: callOption<Dimensions>(noDimensions, {
      name: 'groupBy',
      summary: 'groups points by tags; * is all tags',
      parameters: [variadic('tag', 'any')],
      apply: (_, values) => dimensionsOf(values),
    }),
    isGroupedByMeasurement: flagOption('groupByMeasurement', 'groups by measurement too'),
    truncateNanos: durationOption('truncate', 'cuts times to multiples of this'),
    roundNanos: durationOption('round', 'rounds times to multiples of this'),
  },
  effects: ({ database, retentionPolicy, measurement, dimensions }) => ({
    readsPoints: { database, retentionPolicy, measurement },
    keepsNames: true,
    groupsBy: dimensions.tags,
  }),
});
