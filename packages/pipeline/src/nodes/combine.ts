// combine: pairs points of one group and time with each other.
import { variadic } from '../evaluate/parameter.ts';
import {
  callProperty,
  defineNode,
  durationProperty,
  integerProperty,
  stringProperty,
} from '../node-definition.ts';
import { checkLambdas } from '../lambda.ts';
import { checkPrefixes } from './prefixes.ts';
import type { LambdaSpec } from '../pipeline.ts';

export type CombineOptions = {
  readonly expressions: readonly LambdaSpec[];
  readonly as: readonly string[];
  readonly delimiter: string;
  readonly toleranceNanos: bigint;
  readonly max: bigint;
};

export const combineNode = defineNode<CombineOptions>({
  type: 'combine',
  label: 'combine',
  className: 'CombineNode',
  category: 'combination',
  summary: 'pairs points of one group and time with each other',
  wants: 'any',
  provides: 'stream',
  parameters: [variadic('expression', 'lambda')],
  create: (values) => ({
    expressions: values.lambdas(0),
    as: [],
    delimiter: '.',
    toleranceNanos: 0n,
    max: 10_000n,
  }),
  properties: [
    callProperty(
      'as',
      [variadic('prefix', 'string')],
      'prefix of the fields of each point',
      (options, values) => ({
        ...options,
        as: values.strings(0),
      }),
    ),
    stringProperty('delimiter', 'delimiter', 'text between prefix and field'),
    durationProperty('tolerance', 'toleranceNanos', 'times are rounded to multiples of this'),
    integerProperty('max', 'max', 'most combinations of one time'),
  ],
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
