// The numbers of field types in the tables of a batch.
import { assert } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';

import { FIELD_TYPES } from './abi.gen.ts';

const TYPES = new Map<number, FieldType>(
  (Object.keys(FIELD_TYPES) as FieldType[]).map((type) => [FIELD_TYPES[type], type]),
);

/** The type for a number of the kernels. */
export function columnType(code: number): FieldType {
  const type = TYPES.get(code);
  assert(type !== undefined, 'columns in linear memory have one of the five types');
  return type;
}
