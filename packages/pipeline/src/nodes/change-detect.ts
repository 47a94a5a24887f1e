// changeDetect: emits a point when one of the fields differs from the last emitted point.
import { defineNode } from '../definition/node-definition.ts';
import { stringsArgument } from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';

export const changeDetectNode = defineNode({
  type: 'changeDetect',
  label: 'changeDetect',
  className: 'ChangeDetectNode',
  category: 'transformation',
  summary: 'emits a point when one of the fields has changed',
  wants: 'any',
  provides: 'same',
  split: PER_GROUP,
  options: { fields: stringsArgument('field') },
});
