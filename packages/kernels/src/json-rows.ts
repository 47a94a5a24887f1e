// Prints rows of columns as JSON text in the kernel. Answers consist mostly of numbers, and
// creating a string for each number cost more than reading it. Takes about 20 ns per cell, 50 ns
// for floats with all digits.
import { assert, longestText } from '@tidemark/core';
import type { Texts } from '@tidemark/core';

import { Area, JSON_COLUMN, JSON_COLUMN_BYTES, VALUE_KINDS } from './abi.gen.ts';
import { writeFloatPowers } from './float-powers.ts';
import { Kernels } from './loader.ts';

type Valid = Uint8Array | undefined;

/** A column to print. `valid` has a byte per row, 0 for nulls. */
export type JsonColumn =
  | { readonly kind: 'float'; readonly values: Float64Array; readonly valid: Valid }
  | { readonly kind: 'integer'; readonly values: BigInt64Array; readonly valid: Valid }
  | { readonly kind: 'unsigned'; readonly values: BigUint64Array; readonly valid: Valid }
  | { readonly kind: 'boolean'; readonly values: Uint8Array; readonly valid: Valid }
  /** Printed as RFC 3339 in UTC. */
  | { readonly kind: 'time'; readonly values: BigInt64Array; readonly valid: Valid }
  /** Printed as whole numbers of `unitNanos`, truncated towards zero. */
  | {
      readonly kind: 'epoch';
      readonly values: BigInt64Array;
      readonly valid: Valid;
      readonly unitNanos: bigint;
    }
  /** `values` are codes of `texts`; the column has hardly any other texts. */
  | {
      readonly kind: 'text';
      readonly values: Uint32Array;
      readonly valid: Valid;
      readonly texts: Texts;
    };

/** Largest size of a printed cell that is no text, with its comma. */
const CELL_BYTES = 40;
/** Largest size of a printed byte of a text. */
const ESCAPED_BYTES = 6;

/** Rows that are copied to the kernel at once. */
const ROWS_PER_CALL = 4096;
/** Size of the output buffer, unless a row may be longer. */
const TEXT_BYTES = 256 << 10;
/** Rows that may be longer cannot be printed here: 12,000 columns of numbers. */
const ROW_BYTES_MAX = 1 << 20;

/** Takes text, which is valid during the call. */
export type TextSink = (text: Uint8Array) => void;

/** Prints rows. The kernel's scratch memory belongs to it during `print`, `sink` included. */
export class JsonRows {
  readonly #kernels: Kernels;
  #views: MemoryViews | undefined;

  constructor(kernels: Kernels = new Kernels()) {
    this.#kernels = kernels;
    writeFloatPowers(kernels);
  }

  /** Whether rows of these columns are short enough. */
  canPrint(columns: readonly JsonColumn[]): boolean {
    return rowBytesMax(columns) <= ROW_BYTES_MAX;
  }

  /**
   * Writes the rows [0, rowCount) as `[a,b],[c,d]`; NaN is printed as null. At an infinite number
   * it stops and returns the number, after having written some of the rows before it.
   */
  print(columns: readonly JsonColumn[], rowCount: number, sink: TextSink): number | undefined {
    const room = Math.max(TEXT_BYTES, rowBytesMax(columns));
    const output = this.#kernels.scratch(Area.output, room);
    const { exports } = this.#kernels;
    for (let from = 0; from < rowCount; from += ROWS_PER_CALL) {
      const count = Math.min(rowCount - from, ROWS_PER_CALL);
      const table = this.#copyIn(columns, from, from + count);
      for (let row = 0; row < count; row += exports.writtenRows()) {
        const end = exports.writeRows(table, columns.length, row, count, output, room) >>> 0;
        if (end === 0) return exports.infiniteValue();
        assert(exports.writtenRows() > 0, 'a row fits in the room for one');
        if (from + row > 0) sink(COMMA);
        sink(this.#kernels.bytes.subarray(output, end));
      }
    }
    return undefined;
  }

  /**
   * Copies rows [from, to) to linear memory, after a table that describes them. Returns the address
   * of the table.
   */
  #copyIn(columns: readonly JsonColumn[], from: number, to: number): number {
    let sizeBytes = columns.length * JSON_COLUMN_BYTES;
    for (const column of columns) {
      sizeBytes += aligned((to - from) * 8);
      if (column.valid !== undefined) sizeBytes += aligned(to - from);
      if (column.kind !== 'text') continue;
      const { bytes, offsets } = column.texts;
      sizeBytes += aligned(offsets.byteLength) + aligned(bytes.length);
    }
    const table = this.#kernels.scratch(Area.input, sizeBytes);
    const views = this.#memoryViews();
    const { words, bytes } = views;
    let at = table + columns.length * JSON_COLUMN_BYTES;
    let word = table >> 2;
    for (const column of columns) {
      const { valid } = column;
      words[word + JSON_COLUMN.kind / 4] = VALUE_KINDS[column.kind];
      words[word + JSON_COLUMN.values / 4] = at;
      placeValues(column, { from, to, at, views });
      at += aligned((to - from) * 8);
      words[word + JSON_COLUMN.valid / 4] = valid === undefined ? 0 : at;
      if (valid !== undefined) {
        bytes.set(whole(valid, from, to), at);
        at += aligned(to - from);
      }
      if (column.kind === 'text') {
        const { texts } = column;
        words[word + JSON_COLUMN.positions / 4] = at;
        words.set(texts.offsets, at >> 2);
        at += aligned(texts.offsets.byteLength);
        words[word + JSON_COLUMN.texts / 4] = at;
        bytes.set(texts.bytes, at);
        at += aligned(texts.bytes.length);
      } else if (column.kind === 'epoch') {
        words[word + JSON_COLUMN.unit / 4] = Number(column.unitNanos & 0xffffffffn);
        words[word + JSON_COLUMN.unit / 4 + 1] = Number(column.unitNanos >> 32n);
      }
      word += JSON_COLUMN_BYTES / 4;
    }
    return table;
  }

  /** Views of the whole linear memory. Valid as long as `Kernels.bytes`. */
  #memoryViews(): MemoryViews {
    const { buffer } = this.#kernels;
    if (this.#views?.bytes.buffer === buffer) return this.#views;
    this.#views = {
      bytes: new Uint8Array(buffer),
      words: new Uint32Array(buffer),
      floats: new Float64Array(buffer),
      integers: new BigInt64Array(buffer),
      unsigneds: new BigUint64Array(buffer),
    };
    return this.#views;
  }
}

type MemoryViews = {
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly floats: Float64Array;
  readonly integers: BigInt64Array;
  readonly unsigneds: BigUint64Array;
};

type Target = {
  readonly from: number;
  readonly to: number;
  /** Address, a multiple of eight. */
  readonly at: number;
  readonly views: MemoryViews;
};

/**
 * Copies between arrays of the same type: a view of bytes per column would cost more than copying a
 * dozen values.
 */
function placeValues(column: JsonColumn, { from, to, at, views }: Target): void {
  switch (column.kind) {
    case 'float':
      views.floats.set(whole(column.values, from, to), at >> 3);
      break;
    case 'integer':
    case 'time':
    case 'epoch':
      views.integers.set(whole(column.values, from, to), at >> 3);
      break;
    case 'unsigned':
      views.unsigneds.set(whole(column.values, from, to), at >> 3);
      break;
    case 'boolean':
      views.bytes.set(whole(column.values, from, to), at);
      break;
    case 'text':
      views.words.set(whole(column.values, from, to), at >> 2);
      break;
  }
}

/** Elements [from, to); the array itself if these are all. */
function whole<T extends { readonly length: number; subarray(from: number, to: number): T }>(
  array: T,
  from: number,
  to: number,
): T {
  return from === 0 && to === array.length ? array : array.subarray(from, to);
}

const COMMA = Uint8Array.of(0x2c);

function rowBytesMax(columns: readonly JsonColumn[]): number {
  // The kernel begins a row only where all its cells but the texts have room behind it.
  let bytes = 8 + 2 * columns.length * CELL_BYTES;
  for (const column of columns) {
    if (column.kind === 'text') bytes += 2 + ESCAPED_BYTES * longestText(column.texts);
  }
  return bytes;
}

function aligned(sizeBytes: number): number {
  return (sizeBytes + 7) & ~7;
}
