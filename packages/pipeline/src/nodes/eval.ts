// eval: computes fields (or tags) from expressions.
import { variadic } from '../evaluate/parameter.ts';
import { callProperty, defineNode } from '../node-definition.ts';
import { didYouMean } from '../evaluate/hints.ts';
import { checkLambdas } from '../lambda.ts';
import type { LambdaSpec } from '../pipeline.ts';

export type EvalOptions = {
  readonly expressions: readonly LambdaSpec[];
  readonly as: readonly string[];
  /** Results that become tags; each is one of `as`. */
  readonly tags: readonly string[];
  /** `undefined`: only results; empty: everything; else the listed fields. */
  readonly keep: readonly string[] | undefined;
};

export const evalNode = defineNode<EvalOptions>({
  type: 'eval',
  label: 'eval',
  className: 'EvalNode',
  category: 'transformation',
  summary: 'computes fields or tags from expressions',
  wants: 'any',
  provides: 'same',
  parameters: [variadic('expression', 'lambda')],
  create: (values) => ({ expressions: values.lambdas(0), as: [], tags: [], keep: undefined }),
  properties: [
    callProperty('as', [variadic('name', 'string')], 'names of the results', (options, values) => ({
      ...options,
      as: values.strings(0),
    })),
    callProperty(
      'tags',
      [variadic('name', 'string')],
      'results that become tags',
      (options, values) => ({
        ...options,
        tags: values.strings(0),
      }),
    ),
    callProperty(
      'keep',
      [variadic('field', 'string')],
      'keeps the fields of the point: all of them, or those listed',
      (options, values) => ({ ...options, keep: values.strings(0) }),
    ),
  ],
  validate: ({ as, tags, expressions }) => {
    if (as.length !== expressions.length) {
      return {
        text: `must specify same number of expressions and .as() names: got ${as.length} as names, and ${expressions.length} expressions.`,
        properties: ['as'],
        found: `${as.length} names`,
        expected: [`${expressions.length} names`],
        hint: "name each result: .as('name')",
      };
    }
    const unknown = tags.find((each) => !as.includes(each));
    return unknown === undefined
      ? undefined
      : {
          text: `invalid tag name "${unknown}", name is not present is .as() names`,
          properties: ['tags'],
          found: unknown,
          expected: as,
          hint: didYouMean(unknown, as) ?? 'tags are made of results that .as() names',
        };
  },
  checkStart: ({ expressions }) =>
    checkLambdas(
      expressions.map((each, index) => [`Failed to compile ${index} expression: `, each]),
    ),
});
