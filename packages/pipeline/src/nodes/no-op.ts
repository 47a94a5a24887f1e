// noOp: passes everything on; made by `stats` for a node without children.
import { defineNode } from '../definition/node-definition.ts';

export const noOpNode = defineNode({
  type: 'noOp',
  label: 'noop',
  className: 'NoOpNode',
  category: 'internal',
  summary: 'passes everything on',
  wants: 'any',
  provides: 'same',
  follows: [],
  isImplied: true,
  options: {},
});
