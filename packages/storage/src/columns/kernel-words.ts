// The kernel's 64-bit words as columns.
import type { Column, FieldType } from '@tidemark/core';

export type NumericType = Exclude<FieldType, 'string'>;

/** A column over the bytes of words; booleans, which are words too, are copied. */
export function columnOfWords(
  type: NumericType,
  {
    buffer,
    byteOffset,
    length,
  }: Pick<Float64Array<ArrayBuffer>, 'buffer' | 'byteOffset' | 'length'>,
): Column & { readonly type: NumericType } {
  const valid = undefined;
  switch (type) {
    case 'float':
      return { type, values: new Float64Array(buffer, byteOffset, length), valid };
    case 'integer':
      return { type, values: new BigInt64Array(buffer, byteOffset, length), valid };
    case 'unsigned':
      return { type, values: new BigUint64Array(buffer, byteOffset, length), valid };
    case 'boolean': {
      const words = new BigUint64Array(buffer, byteOffset, length);
      return { type, values: Uint8Array.from(words, Number), valid };
    }
  }
}
