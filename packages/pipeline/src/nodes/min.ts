// min: the point with the smallest value.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const minNode = defineFunction({
  type: 'min',
  summary: 'the point with the smallest value',
  provides: 'stream',
  options: { field: FIELD },
});
