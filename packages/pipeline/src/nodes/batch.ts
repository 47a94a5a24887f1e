// batch: source of a batch task; its children are queries.
import { defineNode } from '../definition/node-definition.ts';
import { PER_MESSAGE } from '../definition/split.ts';

export const batchNode = defineNode({
  type: 'batch',
  label: 'batch',
  className: 'BatchNode',
  category: 'source',
  summary: 'source of queries',
  wants: 'batch',
  provides: 'batch',
  split: PER_MESSAGE,
  isRoot: true,
  options: {},
});
