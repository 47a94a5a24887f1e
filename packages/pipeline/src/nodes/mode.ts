// mode: most frequent value.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const modeNode = defineFunction({
  type: 'mode',
  summary: 'most frequent value',
  provides: 'stream',
  options: { field: FIELD },
});
