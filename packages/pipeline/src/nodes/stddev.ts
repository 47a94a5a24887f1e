// stddev: standard deviation of a sample.
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const stddevNode = defineFunction({
  type: 'stddev',
  summary: 'standard deviation of a sample',
  provides: 'stream',
  options: { field: FIELD },
});
