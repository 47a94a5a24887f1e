// where: keeps the points for which an expression is true.
import { parameter } from '../evaluate/parameter.ts';
import { defineNode } from '../node-definition.ts';
import { checkLambdas } from '../lambda.ts';
import type { LambdaSpec } from '../pipeline.ts';

export type WhereOptions = { readonly expression: LambdaSpec | undefined };

export const whereNode = defineNode<WhereOptions>({
  type: 'where',
  label: 'where',
  className: 'WhereNode',
  category: 'transformation',
  summary: 'keeps points for which the condition is true',
  wants: 'any',
  provides: 'same',
  parameters: [parameter('condition', 'lambda')],
  create: (values) => ({ expression: values.lambda(0) }),
  properties: [],
  checkStart: ({ expression }) =>
    checkLambdas([['Failed to compile expression in where clause: ', expression]]),
});
