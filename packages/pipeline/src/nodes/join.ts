// join: merges points of several parents by group and time.
import { parameter, variadic } from '../evaluate/parameter.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { displayValue } from '../evaluate/value.ts';
import { defineNode } from '../definition/node-definition.ts';
import type { OptionsOfNode } from '../definition/node-definition.ts';
import {
  booleanOption,
  callOption,
  durationOption,
  stringOption,
  stringsOption,
} from '../definition/option.ts';
import { checkPrefixes } from '../node-parts/prefixes.ts';

/** `invalid` is found when the task starts, as recorded. */
export type JoinFill =
  | { readonly kind: 'none' | 'null' }
  | { readonly kind: 'number'; readonly value: number | bigint }
  | { readonly kind: 'invalid'; readonly text: string };

export const joinNode = defineNode({
  type: 'join',
  label: 'join',
  className: 'JoinNode',
  category: 'combination',
  summary: 'merges points of several nodes by group and time',
  wants: 'any',
  provides: 'same',
  split: ({ on }) => ({
    kind: 'group',
    together:
      on.length === 0
        ? []
        : [{ by: { isAllBut: false, tags: on }, reason: 'joins groups', properties: ['on'] }],
  }),
  parents: variadic('other', 'node'),
  options: {
    /** One prefix per parent. */
    as: stringsOption('as', 'prefix of the fields of each node', 'prefix'),
    on: stringsOption('on', 'joins on some of the group tags', 'tag'),
    delimiter: stringOption('delimiter', 'text between prefix and field', '.'),
    toleranceNanos: durationOption('tolerance', 'times are rounded to multiples of this'),
    /** `undefined`: inner join. */
    fill: callOption<JoinFill | undefined>(undefined, {
      name: 'fill',
      summary: "outer join: 'null', 'none' or a number for missing points",
      parameters: [parameter('option', 'any')],
      apply: (_, values) => fillOf(values),
    }),
    streamName: stringOption(
      'streamName',
      'name of the result; that of the first node if not given',
    ),
    isDeletingAll: booleanOption(
      'deleteAll',
      'a group that is deleted below one node ends below all; otherwise the others go on without it',
    ),
  },
  validate: (options, { parentCount }) => {
    const { as, delimiter } = options;
    if (as.length === 0) {
      return {
        text: 'a call to join.as() is required to specify the output stream prefixes.',
        hint: "name the sides: .as('left', 'right')",
      };
    }
    if (as.length !== parentCount) {
      return {
        text: 'number of prefixes specified by join.as() must match the number of joined streams',
        properties: ['as'],
        found: `${as.length} prefixes`,
        expected: [`${parentCount} prefixes`],
        hint: 'give one prefix for each joined node, the first for the one before |join()',
      };
    }
    return checkPrefixes(as, {
      delimiter,
      empty: 'must provide a prefix name for the join node, see .as() property method',
      // The tabulator belongs to the recorded text.
      containing: `it contains the delimiter ${JSON.stringify(delimiter)}\t`,
    });
  },
  checkStart: ({ fill }) =>
    fill?.kind === 'invalid'
      ? [
          {
            text: `unexpected fill option ${fill.text}`,
            properties: ['fill'],
            found: fill.text,
            expected: ["'none'", "'null'", 'a number'],
            hint: "write .fill('null'), .fill('none') or .fill(0.0)",
          },
        ]
      : [],
});

export type JoinOptions = OptionsOfNode<typeof joinNode>;

function fillOf(values: Arguments): JoinFill | undefined {
  const [value] = values.values;
  switch (value?.kind) {
    case 'integer':
    case 'float':
      return { kind: 'number', value: value.value };
    case 'string':
      return value.value === 'none' || value.value === 'null'
        ? { kind: value.value }
        : { kind: 'invalid', text: displayValue(value) };
    default:
      // Other types are ignored, as recorded: the join stays an inner one.
      return undefined;
  }
}
