// derivative: rate of change of a field.
import { NANOS_PER_SECOND } from '@tidemark/core';
import { defineNode } from '../definition/node-definition.ts';
import { durationOption, flagOption, stringArgument, stringOption } from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';

export const derivativeNode = defineNode({
  type: 'derivative',
  label: 'derivative',
  className: 'DerivativeNode',
  category: 'transformation',
  summary: 'rate of change of a field per unit of time',
  wants: 'any',
  provides: 'same',
  split: PER_GROUP,
  options: {
    field: stringArgument('field'),
    as: {
      ...stringOption('as', 'name of the result; the name of the field if not given'),
      from: (values) => values.string(0),
    },
    unitNanos: durationOption('unit', 'unit of time', NANOS_PER_SECOND),
    isNonNegative: flagOption('nonNegative', 'emits nothing when the value has fallen'),
  },
});
