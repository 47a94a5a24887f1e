// noOp: passes everything on; made by `stats` for a node without children.
import { defineNode } from '../definition/node-definition.ts';
import { PER_MESSAGE } from '../definition/split.ts';

export const noOpNode = defineNode({
  type: 'noOp',
  label: 'noop',
  className: 'NoOpNode',
  category: 'internal',
  summary: 'passes everything on',
  wants: 'any',
  provides: 'same',
  split: PER_MESSAGE,
  follows: [],
  isImplied: true,
  options: {},
  effects: () => ({ keepsNames: true }),
});
