// Warnings about unknown names. A statement with such a name is not an error: the name has no
// values in the result, as recorded. But its author should know.
import { didYouMean, isComparison } from '@tidemark/core';
import type { Span } from '@tidemark/core';
import { isTime, quoteString, walk } from '@tidemark/influxql';
import type { Expression, Reference, SelectStatement } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import type { PreparedSource } from './prepared.ts';
import { resolveName, sourceTags } from './prepared.ts';
import type { SourceNames } from './source-names.ts';

/** Reports the fields and tags of a statement that none of its sources has. */
export function reportNames(
  statement: SelectStatement,
  sources: readonly PreparedSource[],
  { onFinding }: QueryContext,
): void {
  if (onFinding === undefined || sources.length === 0) return;
  const known = new Set(sources.flatMap(namesOf));
  const values = comparedWith(statement.condition);
  const reported = new Set<string>();
  for (const { name, span } of references(statement)) {
    if (reported.has(name) || resolveName(name, sources).kind !== 'unknown') continue;
    reported.add(name);
    onFinding({
      code: 'IQL_UNKNOWN_NAME',
      message: `no field and no tag is called ${name}`,
      span,
      hint: values.has(name)
        ? `strings are written in single quotes: ${quoteString(name)}`
        : didYouMean(name, known),
    });
  }
}

/** Reports a measurement that does not exist, with the existing ones. */
export function reportMeasurement(
  { set: { name }, existing }: SourceNames,
  span: Span,
  { onFinding }: QueryContext,
): void {
  if (existing === undefined || name === undefined) return;
  onFinding?.({
    code: 'IQL_UNKNOWN_MEASUREMENT',
    message: `no measurement is called ${name}`,
    span,
    hint: didYouMean(name, existing),
  });
}

function namesOf(source: PreparedSource): readonly string[] {
  const columns =
    source.kind === 'measurement'
      ? [...source.schema.fields.keys()]
      : source.select.columns.map((column) => column.name);
  return [...columns, ...sourceTags(source)];
}

/** Names that are compared with something: these should be fields or tags with values. */
function comparedWith(condition: Expression | undefined): ReadonlySet<string> {
  const names = new Set<string>();
  if (condition === undefined) return names;
  walk(condition, (node) => {
    if (node.kind === 'binary' && isComparison(node.operator) && node.right.kind === 'reference')
      names.add(node.right.name);
  });
  return names;
}

/**
 * Names in the SELECT list and the condition. In GROUP BY, unknown names are empty tags on purpose.
 */
function references({ fields, condition }: SelectStatement): readonly Reference[] {
  const found: Reference[] = [];
  const add = (node: Expression): void => {
    if (node.kind === 'reference' && !isTime(node)) found.push(node);
  };
  for (const { expression } of fields) walk(expression, add);
  if (condition !== undefined) walk(condition, add);
  return found;
}
