// noOp: passes everything on; made by `stats` for a node without children.
import { defineNode } from '../node-definition.ts';

export type NoOpOptions = Readonly<Record<string, never>>;

export const noOpNode = defineNode<NoOpOptions>({
  type: 'noOp',
  label: 'noop',
  className: 'NoOpNode',
  category: 'internal',
  summary: 'passes everything on',
  wants: 'any',
  provides: 'same',
  parameters: [],
  create: () => ({}),
  properties: [],
});
