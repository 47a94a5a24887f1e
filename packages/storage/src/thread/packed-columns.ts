// Columns of numbers without nulls, as views of a message's buffer.
import type { Column } from '@tidemark/core';

export type PackedType = 'float' | 'integer' | 'unsigned';
export type ColumnPlace = {
  readonly buffer: ArrayBuffer;
  /** Offset in bytes, a multiple of eight. */
  readonly at: number;
  readonly count: number;
};

/** A column of `count` values from byte `at` on, without a copy. */
export function numberColumn(type: PackedType, { buffer, at, count }: ColumnPlace): Column {
  const valid = undefined;
  switch (type) {
    case 'float':
      return { type, values: new Float64Array(buffer, at, count), valid };
    case 'integer':
      return { type, values: new BigInt64Array(buffer, at, count), valid };
    case 'unsigned':
      return { type, values: new BigUint64Array(buffer, at, count), valid };
  }
}
