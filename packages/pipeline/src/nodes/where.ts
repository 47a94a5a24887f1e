// where: keeps the points for which an expression is true.
import { defineNode } from '../definition/node-definition.ts';
import { conditionArgument } from '../definition/option.ts';
import { checkLambdas } from '../lambda.ts';

export const whereNode = defineNode({
  type: 'where',
  label: 'where',
  className: 'WhereNode',
  category: 'transformation',
  summary: 'keeps points for which the condition is true',
  wants: 'any',
  provides: 'same',
  options: { expression: conditionArgument('condition') },
  checkStart: ({ expression }) =>
    checkLambdas([['Failed to compile expression in where clause: ', expression]]),
});
