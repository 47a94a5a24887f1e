// A column of nulls.
import type { Column, FieldType } from '@tidemark/core';

import { newFieldArray } from './row-block.ts';
import { columnOf } from './run.ts';

export function nullColumn(type: FieldType, count: number): Column {
  return columnOf(type, { values: newFieldArray(type, count), valid: new Uint8Array(count) });
}
