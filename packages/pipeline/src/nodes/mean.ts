// mean: arithmetic mean.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const meanNode = defineFunction({
  type: 'mean',
  summary: 'arithmetic mean',
  provides: 'stream',
  options: { field: FIELD },
});
