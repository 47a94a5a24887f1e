// stateCount: for how many consecutive points an expression has been true.
import { defineNode } from '../definition/node-definition.ts';
import { conditionArgument, stringOption } from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';
import { checkLambdas } from '../lambda.ts';

export const stateCountNode = defineNode({
  type: 'stateCount',
  label: 'state_count',
  className: 'StateCountNode',
  category: 'transformation',
  summary: 'for how many points in a row the condition has been true; -1 while it is false',
  wants: 'any',
  provides: 'same',
  split: PER_GROUP,
  options: {
    expression: conditionArgument('condition'),
    as: stringOption('as', 'name of the result', 'state_count'),
  },
  checkStart: ({ expression }) =>
    checkLambdas([['Failed to compile expression in state tracking node: ', expression]]),
});
