// groupBy: changes the grouping of points or batches.
import { variadic } from '../evaluate/parameter.ts';
import { defineNode } from '../definition/node-definition.ts';
import { argument, callOption, flagOption } from '../definition/option.ts';
import { dimensionsOf, noDimensions, tagsOf } from '../node-parts/dimensions.ts';

export const groupByNode = defineNode({
  type: 'groupBy',
  label: 'groupby',
  className: 'GroupByNode',
  category: 'transformation',
  summary: 'groups points or batches by tags',
  wants: 'any',
  provides: 'same',
  split: ({ dimensions, exclude }, wants) =>
    wants === 'batch'
      ? {
          kind: 'all',
          reason: 'puts batches of all groups together by their time',
          hint: 'group the points before the window',
        }
      : { kind: 'message', groupsBy: tagsOf(dimensions, exclude) },
  options: {
    dimensions: argument(noDimensions, variadic('tag', 'any'), dimensionsOf),
    exclude: callOption<readonly string[]>([], {
      name: 'exclude',
      summary: 'tags left out of *',
      parameters: [variadic('tag', 'string')],
      apply: (before, values) => [...before, ...values.strings(0)],
    }),
    isByMeasurement: flagOption('byMeasurement', 'groups by measurement too'),
  },
  validate: ({ dimensions, exclude }) =>
    exclude.length > 0 && !dimensions.isAll
      ? {
          text: "exclude requires '*'",
          properties: ['exclude'],
          hint: 'write groupBy(*), or leave the tag out of the list',
        }
      : undefined,
  effects: ({ dimensions }) => ({ keepsNames: true, groupsBy: dimensions.tags }),
});
