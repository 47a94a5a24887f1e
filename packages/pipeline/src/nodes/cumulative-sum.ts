// cumulativeSum: running sum.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const cumulativeSumNode = defineFunction({
  type: 'cumulativeSum',
  summary: 'running sum',
  provides: 'same',
  options: { field: FIELD },
});
