// bottom: the points with the smallest values; with tags the best point for each combination of
// their values.
import { integerArgument, stringsArgument } from '../definition/option.ts';
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const bottomNode = defineFunction({
  type: 'bottom',
  summary: 'the points with the smallest values; of those that share the named tags the best one',
  provides: 'batch',
  options: {
    count: integerArgument('count'),
    field: FIELD,
    fieldsAndTags: stringsArgument('fieldsAndTags'),
  },
});
