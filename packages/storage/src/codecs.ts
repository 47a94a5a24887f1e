// The seam to the column codecs. One function per direction and kind of column; what the bytes mean is described in
// docs/formats/segment.md, "Columns".
import { assert } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';

import { DecodeError } from './bytes.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';
import { newFieldArray } from './memtable/table.ts';
import type { FieldArray } from './memtable/table.ts';

/** Values of a column without its nulls; strings as codes plus dictionary. */
export type PlainColumn = {
  readonly type: FieldType;
  readonly values: FieldArray;
  readonly dictionary?: readonly string[] | undefined;
};

export function encodeTimes(times: BigInt64Array, out: ByteWriter): void {
  out.raw(bytesOf(times));
}

export function decodeTimes(reader: ByteReader, count: number): BigInt64Array {
  return new BigInt64Array(copyOf(reader.raw(count * 8)));
}

export function encodeIds(ids: Uint32Array, out: ByteWriter): void {
  out.raw(bytesOf(ids));
}

export function decodeIds(reader: ByteReader, count: number): Uint32Array {
  return new Uint32Array(copyOf(reader.raw(count * 4)));
}

/** Validity as bits, least significant first. */
export function encodeBits(bits: Uint8Array, out: ByteWriter): void {
  const packed = new Uint8Array(Math.ceil(bits.length / 8));
  for (let i = 0; i < bits.length; i++) if (bits[i] === 1) packed[i >> 3]! |= 1 << (i & 7);
  out.raw(packed);
}

export function decodeBits(reader: ByteReader, count: number): Uint8Array {
  const packed = reader.raw(Math.ceil(count / 8));
  const bits = new Uint8Array(count);
  for (let i = 0; i < count; i++) bits[i] = (packed[i >> 3]! >> (i & 7)) & 1;
  return bits;
}

export function encodeValues(column: PlainColumn, out: ByteWriter): void {
  switch (column.type) {
    case 'boolean':
      encodeBits(column.values as Uint8Array, out);
      break;
    case 'string': {
      const dictionary = column.dictionary ?? [];
      out.varint(dictionary.length);
      for (const text of dictionary) out.text(text);
      out.raw(bytesOf(column.values));
      break;
    }
    default:
      out.raw(bytesOf(column.values));
  }
}

export function decodeValues(type: FieldType, reader: ByteReader, count: number): PlainColumn {
  switch (type) {
    case 'boolean':
      return { type, values: decodeBits(reader, count) };
    case 'string': {
      const dictionary: string[] = [];
      const entries = reader.count();
      for (let i = 0; i < entries; i++) dictionary.push(reader.text());
      const values = decodeIds(reader, count);
      for (const code of values) {
        if (code >= entries) throw new DecodeError('string code out of range');
      }
      return { type, values, dictionary };
    }
    default: {
      const values = newFieldArray(type, count);
      bytesOf(values).set(reader.raw(values.byteLength));
      return { type, values };
    }
  }
}

function bytesOf(array: FieldArray | BigInt64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function copyOf(bytes: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.length);
  new Uint8Array(copy).set(bytes);
  assert(copy.byteLength === bytes.length, 'whole copy');
  return copy;
}
