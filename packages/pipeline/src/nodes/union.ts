// union: merges several parents into one stream in order of time.
import { variadic } from '../evaluate/parameter.ts';
import { defineNode } from '../definition/node-definition.ts';
import { stringOption } from '../definition/option.ts';

export const unionNode = defineNode({
  type: 'union',
  label: 'union',
  className: 'UnionNode',
  category: 'combination',
  summary: 'merges the points of several nodes in order of time',
  wants: 'any',
  provides: 'same',
  split: {
    kind: 'all',
    reason: 'orders the points of all groups by time',
    hint: 'leave out |union(), or do not split the task',
  },
  parents: variadic('other', 'node'),
  options: { rename: stringOption('rename', 'name of the result; names stay if not given') },
});
