// stream: source of a stream task; passes every point of the task's databases and retention
// policies.
import { defineNode } from '../definition/node-definition.ts';
import { PER_MESSAGE } from '../definition/split.ts';

export const streamNode = defineNode({
  type: 'stream',
  label: 'stream',
  className: 'StreamNode',
  category: 'source',
  summary: 'all points of the databases and retention policies of the task',
  wants: 'stream',
  provides: 'stream',
  split: PER_MESSAGE,
  isRoot: true,
  options: {},
  effects: () => ({
    needsCluster: {
      cluster: '',
      property: 'stream',
      databases: undefined,
      // Points written to the engine itself need no database.
      urgency: 'optional',
    },
  }),
});
