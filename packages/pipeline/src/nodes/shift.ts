// shift: moves points and batches in time.
import { parameter } from '../evaluate/parameter.ts';
import { defineNode } from '../node-definition.ts';

export type ShiftOptions = { readonly shiftNanos: bigint };

export const shiftNode = defineNode<ShiftOptions>({
  type: 'shift',
  label: 'shift',
  className: 'ShiftNode',
  category: 'transformation',
  summary: 'moves points in time, forward or back',
  wants: 'any',
  provides: 'same',
  parameters: [parameter('shift', 'duration')],
  create: (values) => ({ shiftNanos: values.nanos(0) }),
  properties: [],
  checkStart: ({ shiftNanos }) =>
    shiftNanos === 0n
      ? [
          {
            text: 'invalid shift value: must be non zero duration',
            found: '0s',
            expected: ['a duration'],
            hint: 'write how far, |shift(5m) or |shift(-5m), or leave the node out',
          },
        ]
      : [],
});
