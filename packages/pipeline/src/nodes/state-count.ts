// stateCount: for how many consecutive points an expression has been true.
import { parameter } from '../evaluate/parameter.ts';
import { defineNode, stringProperty } from '../node-definition.ts';
import { checkLambdas } from '../lambda.ts';
import type { LambdaSpec } from '../pipeline.ts';

export type StateCountOptions = {
  readonly expression: LambdaSpec | undefined;
  readonly as: string;
};

export const stateCountNode = defineNode<StateCountOptions>({
  type: 'stateCount',
  label: 'state_count',
  className: 'StateCountNode',
  category: 'transformation',
  summary: 'for how many points in a row the condition has been true; -1 while it is false',
  wants: 'any',
  provides: 'same',
  parameters: [parameter('condition', 'lambda')],
  create: (values) => ({ expression: values.lambda(0), as: 'state_count' }),
  properties: [stringProperty('as', 'as', 'name of the result')],
  checkStart: ({ expression }) =>
    checkLambdas([['Failed to compile expression in state tracking node: ', expression]]),
});
