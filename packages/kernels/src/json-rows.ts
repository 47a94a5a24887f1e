// Prints rows of columns as JSON text in the kernel. Answers consist mostly of numbers, and
// creating a string for each number cost more than reading it. Takes about 20 ns per cell, 50 ns
// for floats with all digits.
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
  /** `texts` are JSON text already: text i is [positions[i], positions[i + 1]). */
  | {
      readonly kind: 'text';
      readonly values: Uint32Array;
      readonly valid: Valid;
      readonly texts: Uint8Array;
      readonly positions: Uint32Array;
      readonly longest: number;
    };

/** Largest size of a printed value, except for texts, which have `longest`. */
const WIDTHS = { float: 26, integer: 20, unsigned: 20, boolean: 5, time: 37, epoch: 20 } as const;

/** Rows that are copied to the kernel at once. */
const ROWS_PER_CALL = 4096;
/** Size of the output buffer, unless a row may be longer. */
const TEXT_BYTES = 256 << 10;
/** Rows that may be longer cannot be printed here: 38,000 columns of floats. */
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
    const textBytes = Math.max(TEXT_BYTES, rowBytesMax(columns));
    const step = Math.min(ROWS_PER_CALL, Math.floor(textBytes / rowBytesMax(columns)));
    const output = this.#kernels.scratch(Area.output, textBytes);
    for (let from = 0; from < rowCount; from += step) {
      const to = Math.min(rowCount, from + step);
      const table = this.#copyIn(columns, from, to);
      const { exports } = this.#kernels;
      const end = exports.writeRows(table, columns.length, 0, to - from, output) >>> 0;
      if (end === 0) return exports.infiniteValue();
      if (from > 0) sink(COMMA);
      sink(this.#kernels.bytes.subarray(output, end));
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
      sizeBytes += aligned(column.positions.byteLength) + aligned(column.texts.byteLength);
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
        words[word + JSON_COLUMN.positions / 4] = at;
        words.set(column.positions, at >> 2);
        at += aligned(column.positions.byteLength);
        words[word + JSON_COLUMN.texts / 4] = at;
        bytes.set(column.texts, at);
        at += aligned(column.texts.length);
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
  let bytes = 3;
  for (const column of columns) {
    bytes += 1 + Math.max(4, column.kind === 'text' ? column.longest : WIDTHS[column.kind]);
  }
  return bytes;
}

function aligned(sizeBytes: number): number {
  return (sizeBytes + 7) & ~7;
}
