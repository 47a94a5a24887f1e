// The columns that a request wants of rows, wherever these are: values in the stored type, or, for
// requests that count, only which rows have one (`presence.ts`).
import type { Column, FieldType } from '@tidemark/core';

import type { Run } from '../columns/run.ts';
import { converts } from './convert.ts';
import type { WantedField } from './convert.ts';

export type Wanted = { readonly fields: readonly WantedField[]; readonly presenceOnly: boolean };

/** Columns of some rows by the index of the wanted field. */
export type ColumnsOfRows = {
  /** The stored type; `undefined` where the rows lack the field. */
  readonly type: (index: number) => FieldType | undefined;
  readonly values: (index: number, type: FieldType) => Column | undefined;
  /** A column that is valid where there are values. */
  readonly presence: (index: number) => Column | undefined;
};

/** Reads the wanted columns. Values that do not convert to the wanted type are not counted. */
export function readColumns(
  { fields, presenceOnly }: Wanted,
  { type, values, presence }: ColumnsOfRows,
): Run['columns'] {
  return fields.map((field, index) => {
    const stored = type(index);
    if (stored === undefined) return undefined;
    if (!presenceOnly) return values(index, stored);
    return converts(stored, field.type ?? stored) ? presence(index) : undefined;
  });
}
