// The buffers of a message: large arrays are handed over as they are, small ones lie in slabs.
import { copyTexts } from '@tidemark/core';
import type { Column } from '@tidemark/core';

import { columnOf, valuesOf } from '../columns/run.ts';

type AnyArray = BigInt64Array | BigUint64Array | Float64Array | Uint8Array | Uint32Array;

const HANDED_OVER_BYTES = 16 << 10;
const FIRST_SLAB_BYTES = 2 << 10;
const SLAB_BYTES_MAX = 256 << 10;

/** Collects the buffers of one message. */
export class MessageBuffers {
  readonly #buffers = new Set<ArrayBuffer>();
  #slab = new ArrayBuffer(0);
  #slabUsed = 0;

  /** The buffers to transfer. */
  get all(): readonly ArrayBuffer[] {
    return [...this.#buffers];
  }

  /** Moves an array to a buffer of this message. The given array must not be used any more. */
  place<T extends AnyArray>(array: T): T {
    const { buffer, byteLength } = array;
    if (byteLength >= HANDED_OVER_BYTES) {
      const isWhole = byteLength === buffer.byteLength && !this.#buffers.has(buffer as ArrayBuffer);
      const owned = (isWhole ? array : array.slice()) as T;
      this.#buffers.add(owned.buffer as ArrayBuffer);
      return owned;
    }
    const at = this.#reserve(byteLength);
    // The same class of array, as a view of the slab.
    const Kind = array.constructor as new (buffer: ArrayBuffer, at: number, length: number) => T;
    const packed = new Kind(this.#slab, at, array.length);
    (packed as Uint8Array).set(array as Uint8Array);
    return packed;
  }

  /** Reserves bytes of the slab, aligned to eight. */
  #reserve(sizeBytes: number): number {
    const at = (this.#slabUsed + 7) & ~7;
    if (at + sizeBytes <= this.#slab.byteLength) {
      this.#slabUsed = at + sizeBytes;
      return at;
    }
    const doubled = Math.min(SLAB_BYTES_MAX, this.#slab.byteLength * 4);
    this.#slab = new ArrayBuffer(Math.max(FIRST_SLAB_BYTES, doubled, sizeBytes));
    this.#buffers.add(this.#slab);
    this.#slabUsed = sizeBytes;
    return 0;
  }
}

/** A column that stands in several places, because it has only nulls, is sent once. */
export function placeColumns(columns: readonly Column[], buffers: MessageBuffers): Column[] {
  const placed = new Map<Column, Column>();
  return columns.map((column) => {
    const known = placed.get(column) ?? placeColumn(column, buffers);
    placed.set(column, known);
    return known;
  });
}

export function placeColumn(column: Column, buffers: MessageBuffers): Column {
  const values = buffers.place(valuesOf(column));
  const valid = column.valid === undefined ? undefined : buffers.place(column.valid);
  if (column.type !== 'string') return columnOf(column.type, { values, valid });
  // Other columns share the bytes, so they are copied.
  const { bytes, offsets } = copyTexts(column.texts);
  const texts = { bytes: buffers.place(bytes), offsets: buffers.place(offsets) };
  return columnOf(column.type, { values, valid, texts });
}

/** Rough size of a batch besides its contents. */
export const BATCH_BYTES = 200;
