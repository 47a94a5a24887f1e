// combine: pairs points of one group and time with each other.
import { defineNode } from '../definition/node-definition.ts';
import {
  durationOption,
  integerOption,
  lambdasArgument,
  stringOption,
  stringsOption,
} from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';
import { checkLambdas } from '../lambda.ts';
import { checkPrefixes } from '../node-parts/prefixes.ts';

export const combineNode = defineNode({
  type: 'combine',
  label: 'combine',
  className: 'CombineNode',
  category: 'combination',
  summary: 'pairs points of one group and time with each other',
  wants: 'any',
  provides: 'stream',
  split: PER_GROUP,
  options: {
    expressions: lambdasArgument('expression', 'boolean'),
    as: stringsOption('as', 'prefix of the fields of each point', 'prefix'),
    delimiter: stringOption('delimiter', 'text between prefix and field', '.'),
    toleranceNanos: durationOption('tolerance', 'times are rounded to multiples of this'),
    max: integerOption('max', 'most combinations of one time', 10_000n),
  },
  validate: ({ as, expressions, delimiter }) => {
    if (as.length === 0) {
      return {
        text: 'a call to combine.as() is required to specify the output stream prefixes.',
        hint: "name the points: .as('first', 'second')",
      };
    }
    if (as.length !== expressions.length) {
      return {
        text: 'number of prefixes specified by combine.as() must match the number of combine expressions',
        properties: ['as'],
        found: `${as.length} prefixes`,
        expected: [`${expressions.length} prefixes`],
        hint: 'give one prefix for each expression',
      };
    }
    return checkPrefixes(as, {
      delimiter,
      empty: 'must provide a prefix name for the combine node, see .as() property method',
      containing: `it contains the delimiter character ${delimiter}`,
    });
  },
  checkStart: ({ expressions }) =>
    checkLambdas(
      expressions.map((each, index) => [`Failed to compile ${index} expression: `, each]),
    ),
});
