// Concatenates arrays of values.

/** Arrays that hold the values of columns, or codes and places of rows. */
export type ColumnValues = BigInt64Array | BigUint64Array | Float64Array | Uint32Array | Uint8Array;

/**
 * Copies arrays one after another. Arrays already adjacent, as parts of one message, are copied as
 * one.
 */
export function copyParts<T extends ColumnValues>(target: T, parts: readonly T[]): void {
  let at = 0;
  for (let i = 0; i < parts.length;) {
    const first = parts[i++]!;
    const { buffer, byteOffset } = first;
    let { length } = first;
    for (; i < parts.length; i++) {
      const next = parts[i]!;
      const end = byteOffset + length * first.BYTES_PER_ELEMENT;
      if (next.buffer !== buffer || next.byteOffset !== end) break;
      length += next.length;
    }
    // The same kind of array, over all of them.
    const Kind = first.constructor as new (buffer: ArrayBufferLike, at: number, n: number) => T;
    const all = length === first.length ? first : new Kind(buffer, byteOffset, length);
    (target as Float64Array).set(all as Float64Array, at);
    at += length;
  }
}
