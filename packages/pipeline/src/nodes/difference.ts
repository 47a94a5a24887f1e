// difference: difference to the previous value.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const differenceNode = defineFunction({
  type: 'difference',
  summary: 'difference to the previous value',
  provides: 'same',
  options: { field: FIELD },
});
