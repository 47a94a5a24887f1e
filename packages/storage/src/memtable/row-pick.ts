// Copies selected rows of a table, column by column, out of its blocks.
import { TextCodes } from '@tidemark/core';
import type { Column, FieldType, StringColumn } from '@tidemark/core';

import { presenceColumn } from '../columns/presence.ts';
import { columnOf } from '../columns/run.ts';
import { firstNotBelow } from '../columns/search.ts';
import { copyValues, newFieldArray } from '../columns/row-block.ts';
import type { BlockColumn, FieldArray, RowBlock } from '../columns/row-block.ts';

/** Blocks of a table, with the number of each one's first row. */
export type Blocks = {
  readonly blocks: readonly RowBlock[];
  readonly firstRows: readonly number[];
};

type Field = { readonly name: string; readonly type: FieldType };

/** Elements [start, end) of the list of rows that are in the same block. */
type RowRun = {
  /** Index in the list of blocks with selected rows. */
  readonly block: number;
  /** Number of the block's first row. */
  readonly firstRow: number;
  readonly start: number;
  readonly end: number;
  /** Whether the rows follow each other in the block, and are enough to copy them at once. */
  readonly isDense: boolean;
};

/** Fewer rows are copied faster one by one. */
const DENSE_ROWS = 8;

/** Rows may be in any order, but rows that follow each other in a block are copied faster. */
export class RowPick {
  readonly #rows: Uint32Array;
  /** The blocks that have selected rows. */
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

  /** `undefined` when none of these blocks has a value of the field. */
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
   * Copies rows from the arrays of the blocks, which all have the type of `to`, in the order of the
   * list.
   */
  #copy(from: readonly (FieldArray | undefined)[], to: FieldArray): void {
    const rows = this.#rows;
    // Copied as two 32-bit words: reading 64-bit integers would allocate a bigint for each.
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

  /** `undefined` when all rows have a value. */
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

  /** The dictionary has only the texts that occur: a block may have thousands of others. */
  #strings(
    columns: readonly (BlockColumn | undefined)[],
    valid: Uint8Array | undefined,
  ): StringColumn {
    const rows = this.#rows;
    const codes = new Uint32Array(rows.length);
    const texts = new TextCodes();
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
    // The codes of nulls need an entry, too.
    const dictionary = texts.size === 0 ? [''] : texts.texts;
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

/** Index of the block that has the row. */
function blockOf(firstRows: readonly number[], row: number): number {
  return firstNotBelow(firstRows, row + 1) - 1;
}

function codeIn(
  texts: TextCodes,
  known: Map<number, number>,
  { column, code }: { readonly column: BlockColumn; readonly code: number | bigint },
): number {
  const from = Number(code);
  const held = known.get(from);
  if (held !== undefined) return held;
  const made = texts.code(column.pool?.texts[from] ?? '');
  known.set(from, made);
  return made;
}

function wordsOf(array: FieldArray): Int32Array {
  return new Int32Array(array.buffer, array.byteOffset, array.length * 2);
}
