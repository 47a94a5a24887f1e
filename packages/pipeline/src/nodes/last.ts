// last: the newest point.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const lastNode = defineFunction({
  type: 'last',
  summary: 'the newest point',
  provides: 'stream',
  options: { field: FIELD },
});
