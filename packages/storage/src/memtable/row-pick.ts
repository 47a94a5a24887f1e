// Copies selected rows of a table, column by column, out of its blocks.
import { TextBuilder, textCount } from '@tidemark/core';
import type { Column, FieldType, StringColumn } from '@tidemark/core';

import { presenceColumn } from '../columns/presence.ts';
import { columnOf } from '../columns/run.ts';
import { firstNotBelow } from '../columns/search.ts';
import { copyValues, newFieldArray } from '../columns/row-block.ts';
import type { BlockColumn, FieldArray, RowBlock } from '../columns/row-block.ts';
import type { SparseValues } from '../columns/sparse-values.ts';

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

/** A block of the list that has a field, and its column. */
type Holder = { readonly block: number; readonly column: BlockColumn };
const NO_HOLDERS: readonly Holder[] = [];

/** A block of the list without columns. */
type SparseBlock = {
  readonly block: number;
  readonly values: SparseValues;
  /** Number of its rows, and of those that are selected. */
  readonly rows: number;
  readonly selected: number;
  /** For each row, its index in the list of rows plus one; 0 when it is not selected. */
  indexOf: Uint32Array | undefined;
};

/** Values of a field in a block without columns. */
type SparseHolder = {
  readonly values: SparseValues;
  /** The number of each value, followed by the index of its row in the list. */
  readonly found: readonly number[];
};
const NO_SPARSE: readonly SparseHolder[] = [];
/** Up to this number of values, looking at all of the selected rows costs next to nothing. */
const SCANNED_VALUES = 256;
/** From this number of fields on, finding the blocks of all fields at once costs less. */
const LISTED_FROM = 16;
/** Views of words cost more than they save for fewer rows. */
const WORDS_FROM_ROWS = 16;

/** Of a block with more texts, each row's text is copied. */
const SHARED_TEXTS = 256;

/** Fewer rows are copied faster one by one. */
const DENSE_ROWS = 8;

type TextSource = {
  readonly holders: readonly Holder[];
  readonly sparse: readonly SparseHolder[];
  readonly valid: Uint8Array | undefined;
};

/** Rows may be in any order, but rows that follow each other in a block are copied faster. */
export class RowPick {
  readonly #rows: Uint32Array;
  /** The blocks that have selected rows. */
  readonly #blocks: readonly RowBlock[];
  readonly #runs: readonly RowRun[];
  /** Runs of each block. */
  #runsOfBlock: readonly (readonly RowRun[])[] | undefined;
  /** Columns by their names, once many were asked for. */
  #holders: Map<string, Holder[]> | undefined;
  #asked = 0;
  #sparse: readonly SparseBlock[] | undefined;

  constructor(blocks: Blocks, rows: Uint32Array) {
    this.#rows = rows;
    const { used, runs } = runsOf(blocks, rows);
    this.#blocks = used;
    this.#runs = runs;
  }

  times(): BigInt64Array {
    const times = new BigInt64Array(this.#rows.length);
    this.#blocks.forEach((block, i) => this.#copy(i, block.times, times));
    return times;
  }

  /** `undefined` when none of these blocks has a value of the field. */
  column({ name, type }: Field): Column | undefined {
    const holders = this.#holdersOf(name);
    const sparse = this.#sparseOf(name);
    if (holders.length === 0 && sparse.length === 0) return undefined;
    const valid = this.#validity(holders, sparse);
    if (type === 'string') return this.#strings({ holders, sparse, valid });
    const values = newFieldArray(type, this.#rows.length);
    for (const { block, column } of holders) this.#copy(block, column.values, values);
    for (const holder of sparse) copySparse(holder, values);
    return columnOf(type, { values, valid });
  }

  #sparseOf(name: string): readonly SparseHolder[] {
    this.#sparse ??= this.#blocks.flatMap(({ sparse, rows }, block) => {
      if (sparse === undefined) return [];
      const selected = this.#runsOf(block).reduce((sum, { start, end }) => sum + end - start, 0);
      return { block, values: sparse, rows, selected, indexOf: undefined };
    });
    if (this.#sparse.length === 0) return NO_SPARSE;
    return this.#sparse.flatMap((block) => {
      const number = block.values.numberOf(name);
      const found = number === undefined ? [] : this.#find(block, number);
      return found.length === 0 ? [] : { values: block.values, found };
    });
  }

  /** Goes through the values of the selected rows or through those of the field. */
  #find(sparse: SparseBlock, number: number): readonly number[] {
    const { block, values, selected } = sparse;
    const rows = this.#rows;
    const found: number[] = [];
    const ofField = values.counts[number]!;
    if (selected * values.valuesPerRow <= Math.max(ofField, SCANNED_VALUES)) {
      for (const { firstRow, start, end } of this.#runsOf(block)) {
        for (let index = start; index < end; index++) {
          const at = values.find(rows[index]! - firstRow, number);
          if (at >= 0) found.push(at, index);
        }
      }
      return found;
    }
    if (sparse.indexOf === undefined) {
      sparse.indexOf = new Uint32Array(sparse.rows);
      for (const { firstRow, start, end } of this.#runsOf(block)) {
        for (let at = start; at < end; at++) sparse.indexOf[rows[at]! - firstRow] = at + 1;
      }
    }
    const { rowOf, before, newest } = values;
    for (let at = newest[number]!; at > 0; at = before[at - 1]!) {
      const index = sparse.indexOf[rowOf[at - 1]!]!;
      if (index > 0) found.push(at - 1, index - 1);
    }
    return found;
  }

  /** The columns of a field, of the blocks that have it. */
  #holdersOf(name: string): readonly Holder[] {
    if (this.#holders !== undefined) return this.#holders.get(name) ?? NO_HOLDERS;
    const holders: Holder[] = [];
    this.#blocks.forEach((each, block) => {
      const column = each.column(name);
      if (column !== undefined) holders.push({ block, column });
    });
    // Where rows have few of very many fields, most blocks lack most of them.
    if (++this.#asked === LISTED_FROM && this.#blocks.length > 1) this.#listHolders();
    return holders;
  }

  #listHolders(): void {
    const all = new Map<string, Holder[]>();
    this.#blocks.forEach(({ columns }, block) => {
      for (const column of columns) {
        const known = all.get(column.name);
        if (known === undefined) all.set(column.name, [{ block, column }]);
        else known.push({ block, column });
      }
    });
    this.#holders = all;
  }

  #runsOf(block: number): readonly RowRun[] {
    if (this.#runsOfBlock === undefined) {
      const runs = this.#blocks.map((): RowRun[] => []);
      for (const run of this.#runs) runs[run.block]!.push(run);
      this.#runsOfBlock = runs;
    }
    return this.#runsOfBlock[block]!;
  }

  /**
   * Copies the rows of a block from one of its arrays, which has the type of `to`, to their places
   * in the list.
   */
  #copy(block: number, from: FieldArray, to: FieldArray): void {
    const rows = this.#rows;
    // Copied as two 32-bit words: reading 64-bit integers would allocate a bigint for each.
    const isWide = to.BYTES_PER_ELEMENT === 8;
    let source: FieldArray | Int32Array = from;
    let target: FieldArray | Int32Array = to;
    for (const { firstRow, start, end, isDense } of this.#runsOf(block)) {
      if (isDense) {
        const first = rows[start]! - firstRow;
        copyValues(to, from.subarray(first, first + end - start) as FieldArray, start);
      } else if (isWide && (source !== from || end - start >= WORDS_FROM_ROWS)) {
        if (source === from) {
          source = wordsOf(from);
          target = wordsOf(to);
        }
        for (let at = start; at < end; at++) {
          const row = (rows[at]! - firstRow) * 2;
          target[2 * at] = source[row]!;
          target[2 * at + 1] = source[row + 1]!;
        }
      } else {
        for (let at = start; at < end; at++) to[at] = from[rows[at]! - firstRow]!;
      }
    }
  }

  /** Which rows have a value of the field; `undefined` when none of the blocks has one. */
  presence(name: string): Column | undefined {
    const holders = this.#holdersOf(name);
    const sparse = this.#sparseOf(name);
    if (holders.length === 0 && sparse.length === 0) return undefined;
    return presenceColumn(this.#rows.length, this.#validity(holders, sparse));
  }

  /** `undefined` when all rows have a value. */
  #validity(holders: readonly Holder[], sparse: readonly SparseHolder[]): Uint8Array | undefined {
    if (holders.length === this.#blocks.length) {
      if (holders.every(({ column }) => column.valid === undefined)) return undefined;
    }
    const valid = new Uint8Array(this.#rows.length);
    for (const { block, column } of holders) {
      if (column.valid !== undefined) this.#copy(block, column.valid, valid);
      else for (const { start, end } of this.#runsOf(block)) valid.fill(1, start, end);
    }
    for (const { found } of sparse) for (let i = 1; i < found.length; i += 2) valid[found[i]!] = 1;
    return valid;
  }

  /** Copies the texts of the rows: a block may have thousands of others. */
  #strings({ holders, sparse, valid }: TextSource): StringColumn {
    const rows = this.#rows;
    const codes = new Uint32Array(rows.length);
    const own = new TextBuilder(rows.length);
    for (const { block, column } of holders) {
      const texts = column.texts!.texts;
      // Few texts, as those of a level, are copied once each.
      const known =
        textCount(texts) <= SHARED_TEXTS ? new Uint32Array(textCount(texts)) : undefined;
      for (const { firstRow, start, end } of this.#runsOf(block)) {
        for (let at = start; at < end; at++) {
          if (valid?.[at] === 0) continue;
          const code = column.values[rows[at]! - firstRow] as number;
          let place = known?.[code] ?? 0;
          if (place === 0) {
            place = own.addFrom(texts, code) + 1;
            if (known !== undefined) known[code] = place;
          }
          codes[at] = place - 1;
        }
      }
    }
    for (const { values, found } of sparse) {
      const { texts, words } = values;
      for (let i = 0; i < found.length; i += 2) {
        codes[found[i + 1]!] = own.addFrom(texts, words[2 * found[i]!]!);
      }
    }
    return { type: 'string', codes, texts: own.texts, valid };
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

/** Copies values to the places of their rows. */
function copySparse({ values: { words }, found }: SparseHolder, to: FieldArray): void {
  const isWide = to.BYTES_PER_ELEMENT === 8;
  const target = isWide ? wordsOf(to) : to;
  for (let i = 0; i < found.length; i += 2) {
    const at = 2 * found[i]!;
    const index = found[i + 1]!;
    if (isWide) {
      target[2 * index] = words[at]!;
      target[2 * index + 1] = words[at + 1]!;
    } else target[index] = words[at]!;
  }
}

/** Index of the block that has the row. */
function blockOf(firstRows: readonly number[], row: number): number {
  return firstNotBelow(firstRows, row + 1) - 1;
}

function wordsOf(array: FieldArray): Int32Array {
  return new Int32Array(array.buffer, array.byteOffset, array.length * 2);
}
