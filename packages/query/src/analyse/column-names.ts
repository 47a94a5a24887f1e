// Names of result columns.
import { children } from '@tidemark/influxql';
import type { Expression } from '@tidemark/influxql';

/** The default name of a column: names of references and calls in it, joined by `_`. */
export function columnName(expression: Expression): string {
  switch (expression.kind) {
    case 'reference':
    case 'call':
      return expression.name;
    case 'distinct':
      return 'distinct';
    default:
      return children(expression)
        .map(columnName)
        .filter((name) => name !== '')
        .join('_');
  }
}

/**
 * Final names: aliases come first and stay as they are; a name that is taken gets a suffix `_1`,
 * `_2`, …, skipping those that are taken too.
 */
export function uniqueColumnNames(
  fields: readonly { readonly alias: string | undefined; readonly name: string }[],
): readonly string[] {
  const taken = new Map<string, number>();
  for (const field of fields) if (field.alias !== undefined) taken.set(field.alias, 1);
  return fields.map((field) => {
    if (field.alias !== undefined) return field.alias;
    let name = field.name;
    const count = taken.get(name);
    if (count !== undefined) {
      let next = count;
      while (taken.has(`${field.name}_${next}`)) next++;
      taken.set(field.name, next + 1);
      name = `${field.name}_${next}`;
    }
    taken.set(name, 1);
    return name;
  });
}
