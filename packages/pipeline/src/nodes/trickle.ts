// trickle: turns batches into single points.
import { defineNode } from '../definition/node-definition.ts';
import { PER_MESSAGE } from '../definition/split.ts';

export const trickleNode = defineNode({
  type: 'trickle',
  label: 'trickle',
  className: 'TrickleNode',
  category: 'transformation',
  summary: 'turns batches into single points',
  wants: 'batch',
  provides: 'stream',
  split: PER_MESSAGE,
  refuses: {
    edge: 'stream',
    text: 'cannot Trickle stream edge',
    hint: 'leave it out: these are points already',
  },
  options: {},
});
