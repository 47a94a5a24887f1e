// The arrays of columns: which type of column has which, where the compiler cannot follow.
import { NO_TEXTS } from '@tidemark/core';
import type { Column, ColumnValues, FieldType, Texts, Validity } from '@tidemark/core';

/** An array for the values of a column; for strings, for their codes. */
export function newValues(type: FieldType, length: number): ColumnValues {
  switch (type) {
    case 'float':
      return new Float64Array(length);
    case 'integer':
      return new BigInt64Array(length);
    case 'unsigned':
      return new BigUint64Array(length);
    case 'boolean':
      return new Uint8Array(length);
    case 'string':
      return new Uint32Array(length);
  }
}

/** The values of a column; for strings, their codes. */
export function valuesOf(column: Column): ColumnValues {
  return column.type === 'string' ? column.codes : column.values;
}

/** The column of an array that has the type of its values. */
export function columnOf(
  type: FieldType,
  values: ColumnValues,
  { valid, texts = NO_TEXTS }: { readonly valid: Validity; readonly texts?: Texts },
): Column {
  if (type === 'string') return { type, codes: values as Uint32Array, texts, valid };
  return { type, values, valid } as Column;
}

/** A column of the same type, and for strings with the same texts. */
export function withValues(column: Column, values: ColumnValues, valid: Validity): Column {
  const texts = column.type === 'string' ? column.texts : NO_TEXTS;
  return columnOf(column.type, values, { valid, texts });
}
