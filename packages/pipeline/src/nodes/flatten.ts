// flatten: merges points of equal time into one, with tag values in the field names.
import { variadic } from '../evaluate/parameter.ts';
import { callProperty, defineNode, durationProperty, stringProperty } from '../node-definition.ts';

export type FlattenOptions = {
  readonly on: readonly string[];
  readonly delimiter: string;
  readonly toleranceNanos: bigint;
  readonly isDroppingOriginalFieldName: boolean;
};

export const flattenNode = defineNode<FlattenOptions>({
  type: 'flatten',
  label: 'flatten',
  className: 'FlattenNode',
  category: 'transformation',
  summary: 'merges points of equal time into one, with tag values in the names of fields',
  wants: 'any',
  provides: 'same',
  parameters: [],
  create: () => ({
    on: [],
    delimiter: '.',
    toleranceNanos: 0n,
    isDroppingOriginalFieldName: false,
  }),
  properties: [
    callProperty(
      'on',
      [variadic('tag', 'string')],
      'tags whose values are joined',
      (options, values) => ({
        ...options,
        on: values.strings(0),
      }),
    ),
    stringProperty('delimiter', 'delimiter', 'text between the parts of a name'),
    durationProperty('tolerance', 'toleranceNanos', 'times are rounded to multiples of this'),
    callProperty(
      'dropOriginalFieldName',
      [variadic('drop', 'bool')],
      'leaves the name of the field out',
      (options, values) => ({
        ...options,
        isDroppingOriginalFieldName: values.values.length === 1 ? values.boolean(0) : true,
      }),
    ),
  ],
});
