// movingAverage: mean of the last values.
import { integerArgument } from '../definition/option.ts';
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const movingAverageNode = defineFunction({
  type: 'movingAverage',
  summary: 'mean of the last values',
  provides: 'same',
  options: { field: FIELD, window: integerArgument('window') },
});
