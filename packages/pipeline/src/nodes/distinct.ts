// distinct: distinct values.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const distinctNode = defineFunction({
  type: 'distinct',
  summary: 'distinct values',
  provides: 'batch',
  options: { field: FIELD },
});
