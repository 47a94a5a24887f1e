// Values of options found by an import, without meaningless ones.
import type { OptionRow, Options } from '../../cells/option.ts';

export function optionValues(
  rows: readonly OptionRow<unknown>[],
  found: (row: OptionRow<unknown>) => unknown,
): Options {
  const values = rows.map((row) => [row.name, found(row)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
