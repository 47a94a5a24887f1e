// shift: moves points and batches in time.
import { defineNode } from '../definition/node-definition.ts';
import { durationArgument } from '../definition/option.ts';
import { PER_MESSAGE } from '../definition/split.ts';

export const shiftNode = defineNode({
  type: 'shift',
  label: 'shift',
  className: 'ShiftNode',
  category: 'transformation',
  summary: 'moves points in time, forward or back',
  wants: 'any',
  provides: 'same',
  split: PER_MESSAGE,
  options: { shiftNanos: durationArgument('shift') },
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
  effects: () => ({ keepsNames: true }),
});
