// count: number of values.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const countNode = defineFunction({
  type: 'count',
  summary: 'number of values',
  provides: 'stream',
  options: { field: FIELD },
});
