// Numbers of field types in linear memory and in log records. In step with assembly/table.ts.
import type { FieldType } from '@tidemark/core';

export const FIELD_TYPE_CODES: Readonly<Record<FieldType, number>> = {
  float: 0,
  integer: 1,
  unsigned: 2,
  string: 3,
  boolean: 4,
};

const TYPES: readonly FieldType[] = ['float', 'integer', 'unsigned', 'string', 'boolean'];

/** `undefined` for a number that no type has. */
export function fieldTypeOf(code: number): FieldType | undefined {
  return TYPES[code];
}
