// median: middle value.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const medianNode = defineFunction({
  type: 'median',
  summary: 'middle value',
  provides: 'stream',
  options: { field: FIELD },
});
