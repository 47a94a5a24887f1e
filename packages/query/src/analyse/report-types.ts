// Warnings about fields of several types: values of types that are not read are left out, as
// recorded.
import type { FieldType, Span } from '@tidemark/core';
import { measurementsIn, walk } from '@tidemark/influxql';
import type { SelectStatement } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import type { PreparedSource } from './prepared.ts';
import { isNumeric } from './expression-types.ts';
import { strongerType } from '../measurement-names.ts';

/**
 * Reports the fields of a statement that have texts or booleans besides the type in which they are
 * read: values of another type are left out.
 */
export function reportTypes(
  statement: SelectStatement,
  sources: readonly PreparedSource[],
  { onFinding }: QueryContext,
): void {
  if (onFinding === undefined) return;
  const mixed = mixedFields(sources);
  if (mixed.size === 0) return;
  const report = (name: string, span: Span): void => {
    const types = mixed.get(name);
    if (types === undefined) return;
    mixed.delete(name);
    const [read, ...others] = types;
    onFinding({
      code: 'IQL_MIXED_TYPES',
      message: `${name} is read as ${read}; its values of type ${others.join(', ')} are left out`,
      span,
      hint: `ask for them by their type, for example ${name}::${others[0]}`,
    });
  };
  for (const { expression } of statement.fields) {
    walk(expression, (node) => {
      if (node.kind === 'reference' && node.cast === undefined) report(node.name, node.span);
      if (node.kind === 'wildcard') for (const name of mixed.keys()) report(name, node.span);
    });
  }
}

/** Types of the fields with values that are left out; the type that is read comes first. */
function mixedFields(sources: readonly PreparedSource[]): Map<string, readonly FieldType[]> {
  const byName = new Map<string, Set<FieldType>>();
  for (const { schema } of measurementsIn(sources)) {
    const { fields, otherTypes } = schema;
    for (const [name, type] of fields) {
      const types = byName.get(name) ?? new Set<FieldType>();
      byName.set(name, types.add(type));
      for (const other of otherTypes?.get(name) ?? []) types.add(other);
    }
  }
  const mixed = new Map<string, readonly FieldType[]>();
  for (const [name, types] of byName) {
    if (types.size === 1) continue;
    const read = [...types].reduce((a, b) => strongerType(a, b));
    const others = [...types].filter(
      (type) => type !== read && !(isNumeric(type) && isNumeric(read)),
    );
    if (others.length > 0) mixed.set(name, [read, ...others]);
  }
  return mixed;
}
