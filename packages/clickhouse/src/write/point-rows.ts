// Rows of a points table in ClickHouse's format Native: blocks of columns, which both sides handle
// as arrays. In RowBinary both sides would handle every value.
import type { BodyBuffers } from '@tidemark/storage-api';

import { RowWriter } from '../sql/row-binary.ts';

/** Bytes of a row without its text. The table calculates `hour`. */
const ROW_BYTES = 44;

/** Capacities of the first block, the second, and all others. */
const BLOCK_ROWS = [256, 4096, 16_384] as const;

/** The rows of one insert. */
export class PointRows {
  readonly #blocks: PointBlock[] = [];

  get sizeBytes(): number {
    return this.#blocks.reduce((sum, block) => sum + block.sizeBytes, 0);
  }

  /** A block with room for one more row. */
  room(): PointBlock {
    const last = this.#blocks.at(-1);
    if (last?.isFull === false) return last;
    const rows = BLOCK_ROWS[Math.min(this.#blocks.length, BLOCK_ROWS.length - 1)]!;
    const block = spare.get(rows)?.pop() ?? new PointBlock(rows);
    this.#blocks.push(block);
    return block;
  }

  /**
   * The names of the columns in the blocks, in parentheses. The table's other columns get their
   * defaults.
   */
  get columns(): string {
    return `(${this.#columns()
      .map(({ name }) => name)
      .join(', ')})`;
  }

  /**
   * The blocks in sequence, copied into a buffer of `buffers`, which the caller owns. Every row
   * gets the version.
   */
  finish(buffers: BodyBuffers, version: bigint): Uint8Array {
    const columns = this.#columns();
    const pieces: Uint8Array[] = [];
    for (const block of this.#blocks) {
      pieces.push(header(columns.length, block.length));
      for (const { name, type, bytesOf } of columns)
        pieces.push(title(name, type), bytesOf(block, version));
    }
    const bytesOfAll = buffers.take(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) {
      bytesOfAll.set(piece, at);
      at += piece.length;
    }
    for (const block of this.#blocks.splice(0)) block.giveBack();
    return bytesOfAll;
  }

  /** The columns of all blocks: those in which any block has a value. */
  #columns(): readonly NativeColumn[] {
    const blocks = this.#blocks;
    return [
      ...COMMON,
      ...(blocks.some(({ floats }) => floats !== undefined) ? [FLOATS] : []),
      ...(blocks.some(({ integers }) => integers !== undefined) ? [INTEGERS] : []),
      ...(blocks.some(({ hasTexts }) => hasTexts) ? [TEXTS] : []),
    ];
  }
}

/**
 * A block of rows in columns. 64-bit numbers are written as two 32-bit words, because a bigint per
 * number takes ten times as long.
 */
export class PointBlock {
  length = 0;
  readonly series: Uint32Array;
  readonly times: Uint32Array;
  readonly #columns: BigUint64Array;
  readonly #versions: BigUint64Array;
  readonly #groups: Uint32Array;
  readonly #floats: Numbers = { words: undefined, isUsed: false };
  readonly #integers: Numbers = { words: undefined, isUsed: false };
  readonly #capacity: number;
  #texts: RowWriter | undefined;
  /** Rows whose texts are written; later rows have empty texts. */
  #textRows = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.series = new Uint32Array(2 * capacity);
    this.times = new Uint32Array(2 * capacity);
    this.#columns = new BigUint64Array(capacity);
    this.#versions = new BigUint64Array(capacity);
    this.#groups = new Uint32Array(capacity);
  }

  get isFull(): boolean {
    return this.length === this.#capacity;
  }

  get sizeBytes(): number {
    return this.length * ROW_BYTES + (this.#texts?.sizeBytes ?? 0);
  }

  get hasTexts(): boolean {
    return this.#texts !== undefined;
  }

  /** `undefined` while all values are 0. */
  get floats(): Uint32Array | undefined {
    return this.#floats.isUsed ? this.#floats.words : undefined;
  }

  get integers(): Uint32Array | undefined {
    return this.#integers.isUsed ? this.#integers.words : undefined;
  }

  /** Sets column and shard group of the rows from `first` on. */
  fill(first: number, column: bigint, group: number): void {
    this.#columns.fill(column, first, this.length);
    this.#groups.fill(group, first, this.length);
  }

  /** The column id of each row. */
  get columns(): BigUint64Array {
    return this.#columns.subarray(0, this.length);
  }

  get groups(): Uint32Array {
    return this.#groups.subarray(0, this.length);
  }

  /** The same version for each row. */
  versions(version: bigint): BigUint64Array {
    return this.#versions.fill(version, 0, this.length).subarray(0, this.length);
  }

  /** The array for values of one kind. */
  numbers(isFloat: boolean): Uint32Array {
    const numbers = isFloat ? this.#floats : this.#integers;
    numbers.isUsed = true;
    return (numbers.words ??= new Uint32Array(2 * this.#capacity));
  }

  /** Sets the text of a row. Rows must come in order. */
  text(row: number, value: string): void {
    this.#texts ??= new RowWriter();
    this.#fillTexts(row);
    this.#texts.text(value);
    this.#textRows = row + 1;
  }

  /** The texts of all rows. */
  finishTexts(): Uint8Array {
    if (this.#texts === undefined) return new Uint8Array(this.length);
    this.#fillTexts(this.length);
    return this.#texts.finish();
  }

  /**
   * Clears the block and puts it into the pool: new arrays of this size would keep the garbage
   * collector busy.
   */
  giveBack(): void {
    for (const numbers of [this.#floats, this.#integers]) {
      if (numbers.isUsed) numbers.words?.fill(0, 0, 2 * this.length);
      numbers.isUsed = false;
    }
    this.length = 0;
    this.#texts = undefined;
    this.#textRows = 0;
    const held = spare.get(this.#capacity) ?? [];
    spare.set(this.#capacity, held);
    if (held.length < SPARE_BLOCKS) held.push(this);
  }

  #fillTexts(end: number): void {
    for (; this.#textRows < end; this.#textRows++) this.#texts?.uint8(0);
  }
}

type Numbers = { words: Uint32Array | undefined; isUsed: boolean };

/** The pool of blocks, by capacity. */
const spare = new Map<number, PointBlock[]>();

/**
 * Blocks of one size in the pool, enough for several inserts in flight. The largest take 1 MB each.
 */
const SPARE_BLOCKS = 16;

type NativeColumn = {
  readonly name: string;
  readonly type: string;
  readonly bytesOf: (block: PointBlock, version: bigint) => Uint8Array;
};

const COMMON: readonly NativeColumn[] = [
  { name: 'column', type: 'UInt64', bytesOf: ({ columns }) => bytes(columns) },
  { name: 'series', type: 'UInt64', bytesOf: (block) => pairs(block.series, block) },
  { name: 'time', type: 'Int64', bytesOf: (block) => pairs(block.times, block) },
  { name: 'version', type: 'UInt64', bytesOf: (block, version) => bytes(block.versions(version)) },
  { name: 'grp', type: 'UInt32', bytesOf: ({ groups }) => bytes(groups) },
];

const FLOATS: NativeColumn = {
  name: 'f',
  type: 'Float64',
  bytesOf: (block) => pairs(block.floats, block),
};
const INTEGERS: NativeColumn = {
  name: 'i',
  type: 'Int64',
  bytesOf: (block) => pairs(block.integers, block),
};
const TEXTS: NativeColumn = {
  name: 's',
  type: 'String',
  bytesOf: (block) => block.finishTexts(),
};

function header(columnCount: number, rowCount: number): Uint8Array {
  const writer = new RowWriter(SMALL_BYTES);
  writer.varint(columnCount);
  writer.varint(rowCount);
  return writer.finish();
}

function title(name: string, type: string): Uint8Array {
  const writer = new RowWriter(SMALL_BYTES);
  writer.text(name);
  writer.text(type);
  return writer.finish();
}

const SMALL_BYTES = 32;

/** The words of a column; zeros if the block has no values that other blocks have. */
function pairs(words: Uint32Array | undefined, { length }: PointBlock): Uint8Array {
  return words === undefined ? new Uint8Array(8 * length) : bytes(words.subarray(0, 2 * length));
}

function bytes({ buffer, byteOffset, byteLength }: Uint32Array | BigUint64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
