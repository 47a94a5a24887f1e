// percentile: the point whose value is greater than that share of the values, 0.0 to 100.0.
import { floatArgument } from '../definition/option.ts';
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const percentileNode = defineFunction({
  type: 'percentile',
  summary: 'the point whose value is greater than that share of the values, 0.0 to 100.0',
  provides: 'stream',
  options: { field: FIELD, percentile: floatArgument('percentile') },
});
