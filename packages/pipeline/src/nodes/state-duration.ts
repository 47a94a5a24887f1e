// stateDuration: how long an expression has been true.
import { NANOS_PER_SECOND } from '@tidemark/core';
import { defineNode } from '../definition/node-definition.ts';
import { conditionArgument, durationOption, stringOption } from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';
import { checkLambdas } from '../lambda.ts';

export const stateDurationNode = defineNode({
  type: 'stateDuration',
  label: 'state_duration',
  className: 'StateDurationNode',
  category: 'transformation',
  summary: 'for how long the condition has been true; -1 while it is false',
  wants: 'any',
  provides: 'same',
  split: PER_GROUP,
  options: {
    expression: conditionArgument('condition'),
    as: stringOption('as', 'name of the result', 'state_duration'),
    unitNanos: durationOption('unit', 'unit of time', NANOS_PER_SECOND),
  },
  checkStart: ({ expression }) =>
    checkLambdas([['Failed to compile expression in state tracking node: ', expression]]),
});
