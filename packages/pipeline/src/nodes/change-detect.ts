// changeDetect: emits a point when one of the fields differs from the last emitted point.
import { variadic } from '../evaluate/parameter.ts';
import { defineNode } from '../node-definition.ts';

export type ChangeDetectOptions = { readonly fields: readonly string[] };

export const changeDetectNode = defineNode<ChangeDetectOptions>({
  type: 'changeDetect',
  label: 'changeDetect',
  className: 'ChangeDetectNode',
  category: 'transformation',
  summary: 'emits a point when one of the fields has changed',
  wants: 'any',
  provides: 'same',
  parameters: [variadic('field', 'string')],
  create: (values) => ({ fields: values.strings(0) }),
  properties: [],
});
