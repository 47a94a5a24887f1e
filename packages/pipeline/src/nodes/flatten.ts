// flatten: merges points of equal time into one, with tag values in the field names.
import { variadic } from '../evaluate/parameter.ts';
import { defineNode } from '../definition/node-definition.ts';
import { callOption, durationOption, stringOption, stringsOption } from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';

export const flattenNode = defineNode({
  type: 'flatten',
  label: 'flatten',
  className: 'FlattenNode',
  category: 'transformation',
  summary: 'merges points of equal time into one, with tag values in the names of fields',
  wants: 'any',
  provides: 'same',
  split: PER_GROUP,
  options: {
    on: stringsOption('on', 'tags whose values are joined', 'tag'),
    delimiter: stringOption('delimiter', 'text between the parts of a name', '.'),
    toleranceNanos: durationOption('tolerance', 'times are rounded to multiples of this'),
    isDroppingOriginalFieldName: callOption<boolean>(false, {
      name: 'dropOriginalFieldName',
      summary: 'leaves the name of the field out',
      parameters: [variadic('drop', 'bool')],
      apply: (_, values) => (values.values.length === 1 ? values.boolean(0) : true),
    }),
  },
});
