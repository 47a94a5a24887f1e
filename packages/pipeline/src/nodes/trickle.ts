// trickle: turns batches into single points.
import { defineNode } from '../node-definition.ts';

export type TrickleOptions = Readonly<Record<string, never>>;

export const trickleNode = defineNode<TrickleOptions>({
  type: 'trickle',
  label: 'trickle',
  className: 'TrickleNode',
  category: 'transformation',
  summary: 'turns batches into single points',
  wants: 'batch',
  provides: 'stream',
  refuses: {
    edge: 'stream',
    text: 'cannot Trickle stream edge',
    hint: 'leave it out: these are points already',
  },
  parameters: [],
  create: () => ({}),
  properties: [],
});
