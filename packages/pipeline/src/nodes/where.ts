// where: keeps the points for which an expression is true.
import { defineNode } from '../definition/node-definition.ts';
import { conditionArgument } from '../definition/option.ts';
import { PER_GROUP, PER_MESSAGE } from '../definition/split.ts';
import { checkLambdas, keepsState } from '../lambda.ts';

export const whereNode = defineNode({
  type: 'where',
  label: 'where',
  className: 'WhereNode',
  category: 'transformation',
  summary: 'keeps points for which the condition is true',
  wants: 'any',
  provides: 'same',
  split: ({ expression }) => (keepsState(expression) ? PER_GROUP : PER_MESSAGE),
  options: { expression: conditionArgument('condition') },
  checkStart: ({ expression }) =>
    checkLambdas([['Failed to compile expression in where clause: ', expression]]),
  effects: () => ({ keepsNames: true }),
});
