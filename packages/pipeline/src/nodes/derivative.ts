// derivative: rate of change of a field.
import { parameter } from '../evaluate/parameter.ts';
import { defineNode, durationProperty, flagProperty, stringProperty } from '../node-definition.ts';

export type DerivativeOptions = {
  readonly field: string;
  readonly as: string;
  readonly unitNanos: bigint;
  readonly isNonNegative: boolean;
};

export const derivativeNode = defineNode<DerivativeOptions>({
  type: 'derivative',
  label: 'derivative',
  className: 'DerivativeNode',
  category: 'transformation',
  summary: 'rate of change of a field per unit of time',
  wants: 'any',
  provides: 'same',
  parameters: [parameter('field', 'string')],
  create: (values) => ({
    field: values.string(0),
    as: values.string(0),
    unitNanos: 1_000_000_000n,
    isNonNegative: false,
  }),
  properties: [
    stringProperty('as', 'as', 'name of the result; the name of the field if not given'),
    durationProperty('unit', 'unitNanos', 'unit of time'),
    flagProperty('nonNegative', 'isNonNegative', 'emits nothing when the value has fallen'),
  ],
});
