// stream: source of a stream task; passes every point of the task's databases and retention
// policies.
import { defineNode } from '../node-definition.ts';

export type StreamOptions = Readonly<Record<string, never>>;

export const streamNode = defineNode<StreamOptions>({
  type: 'stream',
  label: 'stream',
  className: 'StreamNode',
  category: 'source',
  summary: 'all points of the databases and retention policies of the task',
  wants: 'stream',
  provides: 'stream',
  parameters: [],
  create: () => ({}),
  properties: [],
});
