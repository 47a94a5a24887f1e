// max: the point with the largest value.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const maxNode = defineFunction({
  type: 'max',
  summary: 'the point with the largest value',
  provides: 'stream',
  options: { field: FIELD },
});
