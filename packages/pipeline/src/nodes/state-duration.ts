// stateDuration: how long an expression has been true.
import { parameter } from '../evaluate/parameter.ts';
import { defineNode, durationProperty, stringProperty } from '../node-definition.ts';
import { checkLambdas } from '../lambda.ts';
import type { LambdaSpec } from '../pipeline.ts';

export type StateDurationOptions = {
  readonly expression: LambdaSpec | undefined;
  readonly as: string;
  readonly unitNanos: bigint;
};

export const stateDurationNode = defineNode<StateDurationOptions>({
  type: 'stateDuration',
  label: 'state_duration',
  className: 'StateDurationNode',
  category: 'transformation',
  summary: 'for how long the condition has been true; -1 while it is false',
  wants: 'any',
  provides: 'same',
  parameters: [parameter('condition', 'lambda')],
  create: (values) => ({
    expression: values.lambda(0),
    as: 'state_duration',
    unitNanos: 1_000_000_000n,
  }),
  properties: [
    stringProperty('as', 'as', 'name of the result'),
    durationProperty('unit', 'unitNanos', 'unit of time'),
  ],
  checkStart: ({ expression }) =>
    checkLambdas([['Failed to compile expression in state tracking node: ', expression]]),
});
