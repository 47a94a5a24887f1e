// elapsed: time since the previous point in units.
import { durationArgument } from '../definition/option.ts';
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const elapsedNode = defineFunction({
  type: 'elapsed',
  summary: 'time since the previous point in units',
  provides: 'same',
  options: { field: FIELD, unitNanos: durationArgument('unit') },
});
