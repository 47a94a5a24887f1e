// groupBy: changes the grouping of points or batches.
import { dimensionsOf } from './dimensions.ts';
import { variadic } from '../evaluate/parameter.ts';
import { callProperty, defineNode, flagProperty } from '../node-definition.ts';
import type { Dimensions } from './dimensions.ts';

export type GroupByOptions = {
  readonly dimensions: Dimensions;
  /** Tags left out of `*`. */
  readonly exclude: readonly string[];
  readonly isByMeasurement: boolean;
};

export const groupByNode = defineNode<GroupByOptions>({
  type: 'groupBy',
  label: 'groupby',
  className: 'GroupByNode',
  category: 'transformation',
  summary: 'groups points or batches by tags',
  wants: 'any',
  provides: 'same',
  parameters: [variadic('tag', 'any')],
  create: (values) => ({
    dimensions: dimensionsOf(values),
    exclude: [],
    isByMeasurement: false,
  }),
  properties: [
    callProperty(
      'exclude',
      [variadic('tag', 'string')],
      'tags left out of *',
      (options, values) => ({
        ...options,
        exclude: [...options.exclude, ...values.strings(0)],
      }),
    ),
    flagProperty('byMeasurement', 'isByMeasurement', 'groups by measurement too'),
  ],
  validate: ({ dimensions, exclude }) =>
    exclude.length > 0 && !dimensions.isAll
      ? {
          text: "exclude requires '*'",
          properties: ['exclude'],
          hint: 'write groupBy(*), or leave the tag out of the list',
        }
      : undefined,
});
