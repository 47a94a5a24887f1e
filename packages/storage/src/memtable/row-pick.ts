// Some rows of a table, column by column, copied out of the blocks that hold them.
import type { Column, FieldType, StringColumn } from '@tidemark/core';

import { presenceColumn } from '../columns/presence.ts';
import { columnOf } from '../columns/run.ts';
import { firstNotBelow } from '../columns/search.ts';
import { copyValues, newFieldArray } from '../columns/row-block.ts';
import type { BlockColumn, FieldArray, RowBlock } from '../columns/row-block.ts';

/** Blocks in order; `firstRows` are the numbers of their first rows. */
export type Blocks = {
  readonly blocks: readonly RowBlock[];
  readonly firstRows: readonly number[];
};

type Field = { readonly name: string; readonly type: FieldType };

/** Consecutive elements [start, end) of the list of rows whose rows are in one block. */
type RowRun = {
  /** Index of the block among those that the rows lie in. */
  readonly block: number;
  /** Number of the block's first row. */
  readonly firstRow: number;
  readonly start: number;
  readonly end: number;
  /** Whether the rows are consecutive in the block too, and enough to be copied as a whole. */
  readonly isDense: boolean;
};

/** Fewer rows than this are copied one by one, which is faster then. */
const DENSE_ROWS = 8;

/** The rows may be in any order; neighbours of one block are what makes it fast. */
export class RowPick {
  readonly #rows: Uint32Array;
  /** Those that the rows lie in, each once. */
  readonly #blocks: readonly RowBlock[];
  readonly #runs: readonly RowRun[];

  constructor(blocks: Blocks, rows: Uint32Array) {
    this.#rows = rows;
    const { used, runs } = runsOf(blocks, rows);
    this.#blocks = used;
    this.#runs = runs;
  }

  times(): BigInt64Array {
    const times = new BigInt64Array(this.#rows.length);
    this.#copy(
      this.#blocks.map((block) => block.times),
      times,
    );
    return times;
  }

  /** `undefined` when the field has no value in any of the blocks. */
  column({ name, type }: Field): Column | undefined {
    const columns = this.#blocks.map((block) => block.column(name));
    if (columns.every((column) => column === undefined)) return undefined;
    const valid = this.#validity(columns);
    if (type === 'string') return this.#strings(columns, valid);
    const values = newFieldArray(type, this.#rows.length);
    this.#copy(
      columns.map((column) => column?.values),
      values,
    );
    return columnOf(type, { values, valid });
  }

  /**
   * Copies the rows out of the arrays of the blocks, all of one kind, to their places in the list.
   */
  #copy(from: readonly (FieldArray | undefined)[], to: FieldArray): void {
    const rows = this.#rows;
    // As two words: one by one each integer would become a bigint on the heap.
    const isWide = to.BYTES_PER_ELEMENT === 8;
    const sources = isWide ? from.map((array) => array && wordsOf(array)) : from;
    const target = isWide ? wordsOf(to) : to;
    for (const { block, firstRow, start, end, isDense } of this.#runs) {
      const source = sources[block];
      if (source === undefined) continue;
      if (isDense) {
        const first = rows[start]! - firstRow;
        copyValues(to, from[block]!.subarray(first, first + end - start) as FieldArray, start);
      } else if (isWide) {
        for (let at = start; at < end; at++) {
          const row = (rows[at]! - firstRow) * 2;
          target[2 * at] = source[row]!;
          target[2 * at + 1] = source[row + 1]!;
        }
      } else {
        for (let at = start; at < end; at++) target[at] = source[rows[at]! - firstRow]!;
      }
    }
  }

  /** Which rows have a value of the field; `undefined` when none of the blocks has one. */
  presence(name: string): Column | undefined {
    const columns = this.#blocks.map((block) => block.column(name));
    if (columns.every((column) => column === undefined)) return undefined;
    return presenceColumn(this.#rows.length, this.#validity(columns));
  }

  /** `undefined` when every row has a value. */
  #validity(columns: readonly (BlockColumn | undefined)[]): Uint8Array | undefined {
    if (columns.every((column) => column !== undefined && column.valid === undefined)) {
      return undefined;
    }
    const valid = new Uint8Array(this.#rows.length);
    this.#copy(
      columns.map((column) => column?.valid),
      valid,
    );
    for (const { block, start, end } of this.#runs) {
      if (columns[block] !== undefined && columns[block].valid === undefined) {
        valid.fill(1, start, end);
      }
    }
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
    for (const { block, firstRow, start, end } of this.#runs) {
      const column = columns[block];
      if (column === undefined) continue;
      const known = codesOf.get(column) ?? new Map<number, number>();
      codesOf.set(column, known);
      for (let at = start; at < end; at++) {
        if (valid?.[at] === 0) continue;
        codes[at] = codeIn(texts, known, { column, code: column.values[rows[at]! - firstRow]! });
      }
    }
    // Codes of nulls point somewhere too.
    const dictionary = texts.size === 0 ? [''] : [...texts.keys()];
    return { type: 'string', codes, dictionary, valid };
  }
}

function runsOf(
  { blocks, firstRows }: Blocks,
  rows: Uint32Array,
): { readonly used: readonly RowBlock[]; readonly runs: readonly RowRun[] } {
  const runs: RowRun[] = [];
  const used: RowBlock[] = [];
  const places = new Map<number, number>();
  for (let at = 0; at < rows.length;) {
    const number = blockOf(firstRows, rows[at]!);
    const firstRow = firstRows[number]!;
    const rowEnd = firstRow + blocks[number]!.rows;
    let block = places.get(number);
    if (block === undefined) {
      block = used.push(blocks[number]!) - 1;
      places.set(number, block);
    }
    let end = at + 1;
    let isDense = true;
    while (end < rows.length && rows[end]! >= firstRow && rows[end]! < rowEnd) {
      if (rows[end]! !== rows[end - 1]! + 1) isDense = false;
      end++;
    }
    isDense &&= end - at >= DENSE_ROWS;
    runs.push({ block, firstRow, start: at, end, isDense });
    at = end;
  }
  return { used, runs };
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

function wordsOf(array: FieldArray): Int32Array {
  return new Int32Array(array.buffer, array.byteOffset, array.length * 2);
}
