// Some rows of a table, column by column, copied out of the blocks that hold them.
import type { Column, FieldType, StringColumn } from '@tidemark/core';

import { presenceColumn } from '../read/presence.ts';
import { columnOf } from '../read/run.ts';
import { firstNotBelow } from '../search.ts';
import { copyValues, newFieldArray } from './row-block.ts';
import type { BlockColumn, FieldArray, RowBlock } from './row-block.ts';

/** Blocks in order; `firstRows` are the numbers of their first rows. */
export type Blocks = {
  readonly blocks: readonly RowBlock[];
  readonly firstRows: readonly number[];
};

type Field = { readonly name: string; readonly type: FieldType };

/** Neighbours in the list of rows that lie in one block: [start, end) of the list. */
type Stretch = {
  readonly block: RowBlock;
  /** Number of the block's first row. */
  readonly firstRow: number;
  readonly start: number;
  readonly end: number;
  /** The rows follow each other in the block too, and are worth a copy as a whole. */
  readonly isDense: boolean;
};

/** Copying fewer rows than this as a whole takes longer than one by one. */
const DENSE_ROWS = 8;

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
    for (const stretch of this.#stretches) copyStretch(times, stretch.block.times, stretch, rows);
    return times;
  }

  /** `undefined` when the field has no value in any of the blocks. */
  column({ name, type }: Field): Column | undefined {
    const columns = this.#stretches.map(({ block }) => block.column(name));
    if (columns.every((column) => column === undefined)) return undefined;
    const valid = this.#validity(columns);
    if (type === 'string') return this.#strings(columns, valid);
    const rows = this.#rows;
    const values = newFieldArray(type, rows.length);
    for (let s = 0; s < columns.length; s++) {
      const column = columns[s];
      if (column !== undefined) copyStretch(values, column.values, this.#stretches[s]!, rows);
    }
    return columnOf(type, { values, valid });
  }

  /** Which rows have a value of the field; `undefined` when none of the blocks has one. */
  presence(name: string): Column | undefined {
    const columns = this.#stretches.map(({ block }) => block.column(name));
    if (columns.every((column) => column === undefined)) return undefined;
    return presenceColumn(this.#rows.length, this.#validity(columns));
  }

  /** `undefined` when every row has a value. */
  #validity(columns: readonly (BlockColumn | undefined)[]): Uint8Array | undefined {
    if (columns.every((column) => column !== undefined && column.valid === undefined)) {
      return undefined;
    }
    const rows = this.#rows;
    const valid = new Uint8Array(rows.length);
    this.#stretches.forEach((stretch, s) => {
      const column = columns[s];
      if (column === undefined) return;
      if (column.valid === undefined) valid.fill(1, stretch.start, stretch.end);
      else copyStretch(valid, column.valid, stretch, rows);
    });
    return valid;
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
    this.#stretches.forEach(({ firstRow, start, end }, s) => {
      const column = columns[s];
      if (column === undefined) return;
      const known = codesOf.get(column) ?? new Map<number, number>();
      codesOf.set(column, known);
      for (let at = start; at < end; at++) {
        if (valid?.[at] === 0) continue;
        codes[at] = codeIn(texts, known, { column, code: column.values[rows[at]! - firstRow]! });
      }
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
    const rowEnd = firstRow + block.rows;
    let end = at + 1;
    let isDense = true;
    while (end < rows.length && rows[end]! >= firstRow && rows[end]! < rowEnd) {
      if (rows[end]! !== rows[end - 1]! + 1) isDense = false;
      end++;
    }
    isDense &&= end - at >= DENSE_ROWS;
    stretches.push({ block, firstRow, start: at, end, isDense });
    at = end;
  }
  return stretches;
}

/** The last block that begins at the row or before it. */
function blockOf(firstRows: readonly number[], row: number): number {
  return firstNotBelow(firstRows, row + 1) - 1;
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

/** Copies the rows of a stretch to their places in the list. Both arrays are of one kind. */
function copyStretch(
  to: FieldArray,
  from: FieldArray,
  { firstRow, start, end, isDense }: Stretch,
  rows: Uint32Array,
): void {
  if (isDense) {
    const first = rows[start]! - firstRow;
    copyValues(to, from.subarray(first, first + end - start) as FieldArray, start);
  } else if (to.BYTES_PER_ELEMENT !== 8) {
    for (let at = start; at < end; at++) to[at] = from[rows[at]! - firstRow]!;
  } else {
    // As two words: one by one each integer would become a bigint on the heap.
    const target = wordsOf(to);
    const source = wordsOf(from);
    for (let at = start; at < end; at++) {
      const row = (rows[at]! - firstRow) * 2;
      target[2 * at] = source[row]!;
      target[2 * at + 1] = source[row + 1]!;
    }
  }
}

function wordsOf(array: FieldArray): Int32Array {
  return new Int32Array(array.buffer, array.byteOffset, array.length * 2);
}
