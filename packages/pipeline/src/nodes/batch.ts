// batch: source of a batch task; its children are queries.
import { defineNode } from '../node-definition.ts';

export type BatchOptions = Readonly<Record<string, never>>;

export const batchNode = defineNode<BatchOptions>({
  type: 'batch',
  label: 'batch',
  className: 'BatchNode',
  category: 'source',
  summary: 'source of queries',
  wants: 'batch',
  provides: 'batch',
  parameters: [],
  create: () => ({}),
  properties: [],
});
