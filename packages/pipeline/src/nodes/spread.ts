// spread: largest minus smallest value.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const spreadNode = defineFunction({
  type: 'spread',
  summary: 'largest minus smallest value',
  provides: 'stream',
  options: { field: FIELD },
});
