// first: the oldest point.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const firstNode = defineFunction({
  type: 'first',
  summary: 'the oldest point',
  provides: 'stream',
  options: { field: FIELD },
});
