// sum: sum.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const sumNode = defineFunction({
  type: 'sum',
  summary: 'sum',
  provides: 'stream',
  options: { field: FIELD },
});
