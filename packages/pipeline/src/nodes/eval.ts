// eval: computes fields (or tags) from expressions.
import { variadic } from '../evaluate/parameter.ts';
import { didYouMean } from '../evaluate/hints.ts';
import { defineNode } from '../definition/node-definition.ts';
import { callOption, lambdasArgument, stringsOption } from '../definition/option.ts';
import { checkLambdas, keepsState } from '../lambda.ts';

export const evalNode = defineNode({
  type: 'eval',
  label: 'eval',
  className: 'EvalNode',
  category: 'transformation',
  summary: 'computes fields or tags from expressions',
  wants: 'any',
  provides: 'same',
  split: ({ expressions, tags }) => ({
    kind: expressions.some(keepsState) ? 'group' : 'message',
    setsTags: tags,
  }),
  options: {
    expressions: lambdasArgument('expression'),
    as: stringsOption('as', 'names of the results', 'name'),
    /** Each is one of `as`. */
    tags: stringsOption('tags', 'results that become tags', 'name'),
    /** `undefined`: only results; empty: everything; else the listed fields. */
    keep: callOption<readonly string[] | undefined>(undefined, {
      name: 'keep',
      summary: 'keeps the fields of the point: all of them, or those listed',
      parameters: [variadic('field', 'string')],
      apply: (_, values) => values.strings(0),
    }),
  },
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
  effects: ({ as }) => ({ makesNames: as }),
});
