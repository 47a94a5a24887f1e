// Some rows of a table, column by column, copied out of the blocks that hold them.
import type { Column, FieldType, StringColumn } from '@tidemark/core';

import { columnOf } from '../read/run.ts';
import { newFieldArray } from './row-block.ts';
import type { BlockColumn, FieldArray, RowBlock } from './row-block.ts';

/** Blocks in order; `firstRows` are the numbers of their first rows. */
export type Blocks = {
  readonly blocks: readonly RowBlock[];
  readonly firstRows: readonly number[];
};

type Field = { readonly name: string; readonly type: FieldType };

/** Neighbours in the list of rows that lie in one block: those before `end`, behind the stretch before. */
type Stretch = { readonly block: RowBlock; readonly firstRow: number; readonly end: number };

/** The rows may be in any order; neighbours of one block are what makes it fast. */
export class RowPick {
  readonly #rows: Uint32Array;
  readonly #stretches: readonly Stretch[];

  constructor(blocks: Blocks, rows: Uint32Array) {
    this.#rows = rows;
    this.#stretches = stretchesOf(blocks, rows);
  }

  times(): BigInt64Array {
    const rows = this.#rows;
    const times = new BigInt64Array(rows.length);
    const to = wordsOf(times);
    const held = new Map<RowBlock, Int32Array>();
    let i = 0;
    for (const { block, firstRow, end } of this.#stretches) {
      const from = wordsOfBlock(held, block, block.times);
      for (; i < end; i++) copyWords(to, i, from, rows[i]! - firstRow);
    }
    return times;
  }

  /** `undefined` when the field has no value in any of the blocks. */
  column({ name, type }: Field): Column | undefined {
    const columns = this.#stretches.map(({ block }) => block.column(name));
    if (columns.every((column) => column === undefined)) return undefined;
    const valid = this.#validity(columns);
    if (type === 'string') return this.#strings(columns, valid);
    const values = newFieldArray(type, this.#rows.length);
    if (values.BYTES_PER_ELEMENT === 8) this.#copyWords(columns, values);
    else this.#copyBytes(columns, values as Uint8Array);
    return columnOf(type, { values, valid });
  }

  /** `undefined` when every row has a value. */
  #validity(columns: readonly (BlockColumn | undefined)[]): Uint8Array | undefined {
    if (columns.every((column) => column !== undefined && column.valid === undefined)) {
      return undefined;
    }
    const rows = this.#rows;
    const valid = new Uint8Array(rows.length);
    let i = 0;
    this.#stretches.forEach(({ firstRow, end }, s) => {
      const column = columns[s];
      if (column === undefined) i = end;
      else if (column.valid === undefined) valid.fill(1, i, end);
      else for (let at = i; at < end; at++) valid[at] = column.valid[rows[at]! - firstRow]!;
      i = end;
    });
    return valid;
  }

  #copyWords(columns: readonly (BlockColumn | undefined)[], values: FieldArray): void {
    const rows = this.#rows;
    const to = wordsOf(values);
    const held = new Map<RowBlock, Int32Array>();
    let i = 0;
    this.#stretches.forEach(({ block, firstRow, end }, s) => {
      const column = columns[s];
      if (column !== undefined) {
        const from = wordsOfBlock(held, block, column.values);
        for (let at = i; at < end; at++) copyWords(to, at, from, rows[at]! - firstRow);
      }
      i = end;
    });
  }

  #copyBytes(columns: readonly (BlockColumn | undefined)[], values: Uint8Array): void {
    const rows = this.#rows;
    let i = 0;
    this.#stretches.forEach(({ firstRow, end }, s) => {
      const from = columns[s]?.values as Uint8Array | undefined;
      if (from !== undefined) {
        for (let at = i; at < end; at++) values[at] = from[rows[at]! - firstRow]!;
      }
      i = end;
    });
  }

  /** The dictionary holds the texts in use: a block may hold thousands of others. */
  #strings(
    columns: readonly (BlockColumn | undefined)[],
    valid: Uint8Array | undefined,
  ): StringColumn {
    const rows = this.#rows;
    const codes = new Uint32Array(rows.length);
    const texts = new Map<string, number>();
    const codesOf = new Map<BlockColumn, Map<number, number>>();
    let i = 0;
    this.#stretches.forEach(({ firstRow, end }, s) => {
      const column = columns[s];
      if (column !== undefined) {
        const known = codesOf.get(column) ?? new Map<number, number>();
        codesOf.set(column, known);
        for (let at = i; at < end; at++) {
          if (valid?.[at] === 0) continue;
          codes[at] = codeIn(texts, known, { column, code: column.values[rows[at]! - firstRow]! });
        }
      }
      i = end;
    });
    // Codes of nulls point somewhere too.
    const dictionary = texts.size === 0 ? [''] : [...texts.keys()];
    return { type: 'string', codes, dictionary, valid };
  }
}

function stretchesOf({ blocks, firstRows }: Blocks, rows: Uint32Array): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (let at = 0; at < rows.length;) {
    const number = blockOf(firstRows, rows[at]!);
    const block = blocks[number]!;
    const firstRow = firstRows[number]!;
    const lastRow = firstRow + block.rows;
    let end = at + 1;
    while (end < rows.length && rows[end]! >= firstRow && rows[end]! < lastRow) end++;
    stretches.push({ block, firstRow, end });
    at = end;
  }
  return stretches;
}

/** The last block that begins at the row or before it. */
function blockOf(firstRows: readonly number[], row: number): number {
  let low = 0;
  let high = firstRows.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (firstRows[middle]! <= row) low = middle;
    else high = middle;
  }
  return low;
}

function codeIn(
  texts: Map<string, number>,
  known: Map<number, number>,
  { column, code }: { readonly column: BlockColumn; readonly code: number | bigint },
): number {
  const from = Number(code);
  const held = known.get(from);
  if (held !== undefined) return held;
  const text = column.pool?.texts[from] ?? '';
  const made = texts.get(text) ?? texts.size;
  texts.set(text, made);
  known.set(from, made);
  return made;
}

/** Values of eight bytes go as two words: one by one each integer would become a bigint on the heap. */
function copyWords(to: Int32Array, toRow: number, from: Int32Array, fromRow: number): void {
  to[2 * toRow] = from[2 * fromRow]!;
  to[2 * toRow + 1] = from[2 * fromRow + 1]!;
}

function wordsOfBlock(
  held: Map<RowBlock, Int32Array>,
  block: RowBlock,
  array: FieldArray,
): Int32Array {
  let words = held.get(block);
  if (words === undefined) {
    words = wordsOf(array);
    held.set(block, words);
  }
  return words;
}

function wordsOf(array: FieldArray): Int32Array {
  return new Int32Array(array.buffer, array.byteOffset, array.length * 2);
}
