// union: merges several parents into one stream in order of time.
import { variadic } from '../evaluate/parameter.ts';
import { defineNode, stringProperty } from '../node-definition.ts';

export type UnionOptions = { readonly rename: string };

export const unionNode = defineNode<UnionOptions>({
  type: 'union',
  label: 'union',
  className: 'UnionNode',
  category: 'combination',
  summary: 'merges the points of several nodes in order of time',
  wants: 'any',
  provides: 'same',
  parameters: [variadic('other', 'node')],
  create: () => ({ rename: '' }),
  properties: [stringProperty('rename', 'rename', 'name of the result; names stay if not given')],
});
