// Rows of one measurement in one shard's memtable: blocks of rows in arrival order, and per series
// a chain through its runs: neighbouring rows of one batch, as batches mostly come by series.
// Batches of some size become blocks as they are, nothing of them is copied; smaller ones are
// gathered in blocks of a bounded size. So neither a write nor a reader ever waits for work on the
// whole table. A table of few rows has no chains, its rows are looked through: whoever makes up
// names of measurements gets a table for each of them.
//
// Append-only, so that a snapshot is a number of rows. Rows are numbered through all blocks.
import { assert, MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';

import type { RowBlock, TimeBounds } from '../columns/row-block.ts';
import type { Uint32List } from '../columns/uint32-list.ts';
import { RowPick } from './row-pick.ts';
import { isSparse, SPARSE_PART_ROWS, wouldBeSparse } from './sparse-rows.ts';
import { RunChains } from './run-chains.ts';
import { runStarts } from './row-runs.ts';

/** Finds the place of a series within its measurement. */
export type SeriesOrdinals = { ordinalOf(series: number): number };

/** What of a batch becomes a block of its own; smaller ones share blocks. */
const OWN_BLOCK_ROWS = 1024;
/** Small batches are gathered in blocks of at most so many rows: growing one copies little. */
const SHARED_BLOCK_ROWS = 8192;
/** Tables with more rows have chains: looking through fewer takes no longer. */
const UNCHAINED_ROWS = 64;
/** What a table takes beside its blocks, entries in maps included; measured. */
const TABLE_BYTES = 280;

export class Table {
  readonly measurementId: number;
  readonly #index: SeriesOrdinals;
  // Lists of one are made as such: one that grows takes room for seventeen.
  #blocks: RowBlock[] = NO_BLOCKS;
  /** Number of each block's first row. */
  #firstRows: number[] = FIRST_ROWS;
  /**
   * Fields of all blocks, in the order in which they came; `undefined` while there is one block,
   * which knows them.
   */
  #fields: Map<string, FieldType> | undefined;
  /** `undefined` while there are few rows. */
  #chains: RunChains | undefined;
  #ordinalEnd = 0;
  #rows = 0;
  #blockBytes = 0;
  #minTime = MAX_INT64;
  #maxTime = MIN_INT64;
  /** Whether the last block takes further rows. */
  #isOpen = false;

  constructor(measurementId: number, index: SeriesOrdinals) {
    this.measurementId = measurementId;
    this.#index = index;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Larger than the ordinal of every series with rows here. */
  get ordinalEnd(): number {
    return this.#ordinalEnd;
  }

  get blocks(): readonly RowBlock[] {
    return this.#blocks;
  }

  get fields(): ReadonlyMap<string, FieldType> {
    return this.#fields ?? fieldsOf(this.#blocks);
  }

  /** Bounds of the rows; minimum above maximum when there are none. */
  get timeBounds(): TimeBounds {
    return { min: this.#minTime, max: this.#maxTime };
  }

  /** What the table takes, fixed costs included: many small ones fill the memory too. */
  get memoryBytes(): number {
    return TABLE_BYTES + this.#blockBytes + (this.#chains?.memoryBytes ?? 0);
  }

  /** Appends rows. The block is not the caller's any more. `starts` are `runStarts` of it. */
  append(block: RowBlock, starts = runStarts(block.series, block.rows)): void {
    if (block.rows === 0) return;
    this.#chain(block.series, starts);
    const { min, max } = block.timeBounds;
    if (min < this.#minTime) this.#minTime = min;
    if (max > this.#maxTime) this.#maxTime = max;
    if (!isSparse(block)) this.#addBlock(block);
    else {
      // As one block, each field of a measurement would take memory for each row of it.
      for (let row = 0; row < block.rows; row += SPARSE_PART_ROWS) {
        const count = Math.min(SPARSE_PART_ROWS, block.rows - row);
        this.#addBlock(block.select(Array.from({ length: count }, (_, i) => row + i)));
      }
    }
    if (this.#chains === undefined && this.#rows > UNCHAINED_ROWS) this.#makeChains();
  }

  /** The block becomes one of the table's or is copied to the last. */
  #addBlock(block: RowBlock): void {
    const count = block.rows;
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#takesRows(last, block)) {
      const before = last.memoryBytes;
      if (this.#fields !== undefined) addFields(this.#fields, block);
      last.append(block);
      this.#blockBytes += last.memoryBytes - before;
    } else {
      this.#push(block);
      this.#blockBytes += block.memoryBytes;
      this.#isOpen = count < OWN_BLOCK_ROWS;
    }
    this.#rows += count;
  }

  #takesRows(last: RowBlock, block: RowBlock): boolean {
    if (!this.#isOpen || block.rows >= OWN_BLOCK_ROWS) return false;
    return last.rows + block.rows <= SHARED_BLOCK_ROWS && !wouldBeSparse(last, block);
  }

  #push(block: RowBlock): void {
    if (this.#blocks.length === 0) {
      this.#blocks = [block];
      this.#firstRows = FIRST_ROWS;
      return;
    }
    if (this.#firstRows === FIRST_ROWS) this.#firstRows = [...FIRST_ROWS];
    this.#fields ??= fieldsOf(this.#blocks);
    addFields(this.#fields, block);
    this.#blocks.push(block);
    this.#firstRows.push(this.#rows);
  }

  #chain(series: Uint32Array, starts: Uint32Array): void {
    const chains = this.#chains;
    for (const start of starts) {
      const ordinal = this.#index.ordinalOf(series[start]!);
      if (ordinal >= this.#ordinalEnd) this.#ordinalEnd = ordinal + 1;
      chains?.add(ordinal, this.#rows + start);
    }
  }

  #makeChains(): void {
    const chains = new RunChains();
    this.#blocks.forEach(({ series, rows }, i) => {
      for (const start of runStarts(series, rows)) {
        chains.add(this.#index.ordinalOf(series[start]!), this.#firstRows[i]! + start);
      }
    });
    this.#chains = chains;
  }

  /** Ordinals of the rows of a table without chains, in arrival order. */
  *#ordinals(): Generator<number> {
    for (const { series, rows } of this.#blocks) {
      for (let row = 0; row < rows; row++) yield this.#index.ordinalOf(series[row]!);
    }
  }

  /** Adds the rows below `limit` of the series with this ordinal to the list, in arrival order. */
  listRows(ordinal: number, limit: number, list: Uint32List): void {
    if (this.#chains !== undefined) {
      this.#chains.listRows(ordinal, { limit, rows: this.#rows }, list);
      return;
    }
    let row = 0;
    for (const other of this.#ordinals()) {
      if (row === limit) return;
      if (other === ordinal) list.push(row);
      row++;
    }
  }

  /** The first ordinal from `from` on whose series has rows; `ordinalEnd` when there is none. */
  nextOrdinal(from: number): number {
    if (this.#chains !== undefined) return this.#chains.nextOrdinal(from, this.#ordinalEnd);
    let next = this.#ordinalEnd;
    for (const ordinal of this.#ordinals()) if (ordinal >= from && ordinal < next) next = ordinal;
    return next;
  }

  /** Whether the series with this ordinal has rows below `limit`. */
  hasRows(ordinal: number, limit: number): boolean {
    if (this.#chains !== undefined) return this.#chains.hasRows(ordinal, limit);
    let row = 0;
    for (const other of this.#ordinals()) {
      if (row++ === limit) return false;
      if (other === ordinal) return true;
    }
    return false;
  }

  /** The given rows, to be copied column by column. */
  pick(rows: Uint32Array): RowPick {
    return new RowPick({ blocks: this.#blocks, firstRows: this.#firstRows }, rows);
  }

  /**
   * The same rows for an index that gives series other ordinals. This table must not get rows any
   * more.
   */
  withOrdinals(index: SeriesOrdinals): Table {
    const table = new Table(this.measurementId, index);
    for (const block of this.#blocks) {
      table.#chain(block.series, runStarts(block.series, block.rows));
      table.#push(block);
      table.#rows += block.rows;
    }
    if (this.#chains !== undefined) table.#makeChains();
    table.#blockBytes = this.#blockBytes;
    table.#minTime = this.#minTime;
    table.#maxTime = this.#maxTime;
    table.#isOpen = this.#isOpen;
    return table;
  }

  /** A table without the rows that `isGone` names; this one when there are none. */
  without(isGone: (block: RowBlock, row: number) => boolean): Table {
    const kept = new Table(this.measurementId, this.#index);
    for (const block of this.#blocks) {
      const rows: number[] = [];
      for (let row = 0; row < block.rows; row++) if (!isGone(block, row)) rows.push(row);
      if (rows.length > 0) kept.append(block.select(rows));
    }
    return kept.rows === this.rows ? this : kept;
  }
}

const NO_BLOCKS: RowBlock[] = [];
/** Of every table that has one block. */
const FIRST_ROWS: number[] = [0];

function fieldsOf(blocks: readonly RowBlock[]): Map<string, FieldType> {
  const fields = new Map<string, FieldType>();
  for (const block of blocks) addFields(fields, block);
  return fields;
}

function addFields(fields: Map<string, FieldType>, { columns }: RowBlock): void {
  for (const { name, type } of columns) {
    const known = fields.get(name);
    if (known === undefined) fields.set(name, type);
    else assert(known === type, 'a field has one type within a table');
  }
}
