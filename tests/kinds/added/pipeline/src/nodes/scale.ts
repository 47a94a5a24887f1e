// scale: multiplies a field.
import { defineNode } from '../definition/node-definition.ts';
import { PER_MESSAGE } from '../definition/split.ts';
import { integerOption, stringArgument } from '../definition/option.ts';

export const scaleNode = defineNode({
  type: 'scale',
  label: 'scale',
  className: 'ScaleNode',
  category: 'transformation',
  summary: 'multiplies a field',
  wants: 'any',
  provides: 'same',
  split: PER_MESSAGE,
  options: {
    field: stringArgument('field'),
    factor: integerOption('by', 'what the field is multiplied by', 2n),
  },
  validate: ({ factor }) =>
    factor === 0n ? { text: 'nothing would be left', properties: ['by'] } : undefined,
});
