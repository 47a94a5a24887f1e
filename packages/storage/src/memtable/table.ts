// Rows of one measurement in one shard's memtable: blocks of rows in the order of arrival, and for
// each series a linked list of its runs (`run-chains.ts`). Larger batches become blocks without
// being copied; smaller ones are collected in blocks of bounded size. So neither writes nor reads
// ever wait for work on the whole table. A table of few rows has no lists, and its rows are
// scanned: clients that make up names of measurements create a table for each.
//
// Tables only grow, so a snapshot is a number of rows. Rows are numbered across blocks.
import { assert, MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { FieldType, TimeRange } from '@tidemark/core';

import type { RowBlock, TimeBounds } from '../columns/row-block.ts';
import { firstBeyond } from '../columns/search.ts';
import type { Uint32List } from '../columns/uint32-list.ts';
import { RowPick } from './row-pick.ts';
import { isSparse, wouldBeSparse, WIDENED_ROWS_MAX } from './sparse-rows.ts';
import { RunChains } from './run-chains.ts';
import { runStarts } from './row-runs.ts';

/** Finds the ordinal of a series in its measurement. */
export type SeriesOrdinals = { ordinalOf(series: number): number };

/** Batches of this many rows become blocks of their own; smaller ones share a block. */
const OWN_BLOCK_ROWS = 1024;
/** Largest size of a shared block: growing it copies little. */
const SHARED_BLOCK_ROWS = 8192;
/** Up to this number of rows, scanning a table is as fast as a list of runs. */
const UNCHAINED_ROWS = 64;
/** Memory of a table besides its blocks, entries in maps included; measured. */
const TABLE_BYTES = 280;

/** Rows [from, end) of blocks within the times [start, stop], of a table of `rows` rows. */
type Within = {
  readonly rows: number;
  readonly start: bigint;
  readonly stop: bigint;
  readonly from: number;
  readonly end: number;
};

/** Rows [0, end) of a block, whose first one has this number in its table. */
type BlockRows = { readonly block: RowBlock; readonly first: number; readonly end: number };

export class Table {
  readonly measurementId: number;
  readonly #index: SeriesOrdinals;
  // Literals of one element at first: an array that grows has room for 17 elements.
  #blocks: RowBlock[] = NO_BLOCKS;
  /** Number of the first row of each block. */
  #firstRows: number[] = FIRST_ROWS;
  /**
   * Fields of all blocks in the order of their first values; `undefined` while there is one block,
   * which has them.
   */
  #fields: Map<string, FieldType> | undefined;
  /** `undefined` while there are few rows. */
  #chains: RunChains | undefined;
  /** The range that was asked for last. */
  #within: Within | undefined;
  #ordinalEnd = 0;
  #rows = 0;
  #blockBytes = 0;
  #minTime = MAX_INT64;
  #maxTime = MIN_INT64;
  /** Whether rows can be added to the last block. */
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

  /** The type of a field; `undefined` when no row has it. */
  typeOf(name: string): FieldType | undefined {
    return this.#fields === undefined ? this.#blocks[0]?.typeOf(name) : this.#fields.get(name);
  }

  /** Values of all rows and fields. Counts them. */
  get valueCount(): number {
    return this.#blocks.reduce((sum, block) => sum + block.valueCount, 0);
  }

  /** Bounds of the times; the minimum is above the maximum when there are no rows. */
  get timeBounds(): TimeBounds {
    return { min: this.#minTime, max: this.#maxTime };
  }

  /** Includes fixed costs, because many small tables fill the memory, too. */
  get memoryBytes(): number {
    return TABLE_BYTES + this.#blockBytes + (this.#chains?.memoryBytes ?? 0);
  }

  /** Appends rows and takes ownership of the block. `starts` are `runStarts` of the block. */
  append(block: RowBlock, starts = runStarts(block.series, block.rows)): void {
    if (block.rows === 0) return;
    this.#chain(block.series, starts);
    const { min, max } = block.timeBounds;
    if (min < this.#minTime) this.#minTime = min;
    if (max > this.#maxTime) this.#maxTime = max;
    this.#addBlock(isSparse(block) ? block.toSparse() : block);
    if (this.#chains === undefined && this.#rows > UNCHAINED_ROWS) this.#makeChains();
  }

  /** Adds the block to the list, or copies its rows to the last block. */
  #addBlock(block: RowBlock): void {
    const last = this.#takerOf(block);
    if (last !== undefined) {
      const before = last.memoryBytes;
      if (this.#fields !== undefined) addFields(this.#fields, block);
      last.append(block);
      this.#blockBytes += last.memoryBytes - before;
    } else {
      this.#push(block);
      this.#blockBytes += block.memoryBytes;
      this.#isOpen = block.rows < OWN_BLOCK_ROWS;
    }
    this.#rows += block.rows;
  }

  /** The last block, if the rows of another one can be added to it. */
  #takerOf(block: RowBlock): RowBlock | undefined {
    const last = this.#blocks.at(-1);
    if (last === undefined || !this.#isOpen || block.rows >= OWN_BLOCK_ROWS) return undefined;
    if (last.rows + block.rows > SHARED_BLOCK_ROWS) return undefined;
    if (last.sparse !== undefined) return last;
    if (block.sparse === undefined && !wouldBeSparse(last, block)) return last;
    if (last.rows >= WIDENED_ROWS_MAX) return undefined;
    // Readers may hold the one that it replaces.
    const sparse = last.toSparse();
    this.#blocks = [...this.#blocks.slice(0, -1), sparse];
    this.#blockBytes += sparse.memoryBytes - last.memoryBytes;
    return sparse;
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

  /** Ordinals of the rows of a table without lists of runs, in the order of arrival. */
  *#ordinals(): Generator<number> {
    for (const { series, rows } of this.#blocks) {
      for (let row = 0; row < rows; row++) yield this.#index.ordinalOf(series[row]!);
    }
  }

  /** Adds the rows below `limit` of a series to the list, in the order of arrival. */
  listRows(ordinal: number, limit: number, list: Uint32List): void {
    this.#list(ordinal, { from: 0, limit }, list);
  }

  /**
   * As `listRows`, without blocks before the first and behind the last one with times in the range:
   * there may be rows outside of it.
   */
  listRowsWithin(
    ordinal: number,
    { limit, timeRange }: { readonly limit: number; readonly timeRange: TimeRange },
    list: Uint32List,
  ): void {
    const { from, end } = this.#rowsWithin(timeRange);
    this.#list(ordinal, { from, limit: Math.min(limit, end) }, list);
  }

  /**
   * The blocks with rows below `limit`, and how many; for a range those that `listRowsWithin`
   * reads.
   */
  *blocksWithin(limit: number, timeRange?: TimeRange): Generator<BlockRows> {
    const within = timeRange === undefined ? { from: 0, end: limit } : this.#rowsWithin(timeRange);
    const rows = Math.min(limit, within.end);
    const blocks = this.#blocks;
    for (const [i, first] of this.#firstRows.entries()) {
      const block = blocks[i];
      if (block === undefined || first < within.from || first >= rows) continue;
      yield { block, first, end: Math.min(block.rows, rows - first) };
    }
  }

  /** Rows of the blocks that may lie in the range. It is the same one for many series. */
  #rowsWithin({ start, end }: TimeRange): Within {
    const known = this.#within;
    if (known?.rows === this.#rows && known.start === start && known.stop === end) return known;
    const isWithin = ({ timeBounds: { min, max } }: RowBlock): boolean =>
      min <= end && max >= start;
    const first = this.#blocks.findIndex(isWithin);
    const behind = this.#blocks.findLastIndex(isWithin) + 1;
    const within: Within = {
      rows: this.#rows,
      start,
      stop: end,
      from: first < 0 ? 0 : this.#firstRows[first]!,
      end: first < 0 ? 0 : (this.#firstRows[behind] ?? this.#rows),
    };
    this.#within = within;
    return within;
  }

  #list(
    ordinal: number,
    { from, limit }: { readonly from: number; readonly limit: number },
    list: Uint32List,
  ): void {
    if (from >= limit) return;
    if (this.#chains !== undefined) {
      this.#chains.listRows(ordinal, { from, limit, rows: this.#rows }, list);
      return;
    }
    let row = 0;
    for (const other of this.#ordinals()) {
      if (row === limit) return;
      if (other === ordinal && row >= from) list.push(row);
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

  /** Whether the series has rows below `limit`. */
  hasRows(ordinal: number, limit: number): boolean {
    if (this.#chains !== undefined) return this.#chains.hasRows(ordinal, limit);
    let row = 0;
    for (const other of this.#ordinals()) {
      if (row++ === limit) return false;
      if (other === ordinal) return true;
    }
    return false;
  }

  /** Selects rows, to be copied column by column. */
  pick(rows: Uint32Array): RowPick {
    return new RowPick({ blocks: this.#blocks, firstRows: this.#firstRows }, rows);
  }

  /**
   * The same rows for an index in which series have other ordinals. No rows may be added to this
   * table afterwards.
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

  /** A table of the same measurement without rows. */
  empty(): Table {
    return new Table(this.measurementId, this.#index);
  }

  /** Whether the series has rows here. */
  hasSeries(series: number): boolean {
    return this.hasRows(this.#index.ordinalOf(series), this.#rows);
  }

  /**
   * Appends the remaining rows from `from` on to another table, after those that it has. Returns
   * the first row that was not visited.
   */
  copySome(kept: Table, from: number, rowsLeft: RowsLeft): number {
    const position = firstBeyond(this.#firstRows.length, (i) => this.#firstRows[i]! > from) - 1;
    const block = this.#blocks[position]!;
    const first = this.#firstRows[position]!;
    const start = from - first;
    const end = Math.min(block.rows, start + COPIED_ROWS);
    const left = rowsLeft(block, start, end);
    // Both tables share a block that no longer grows.
    const isClosed = position < this.#blocks.length - 1 && block.rows >= OWN_BLOCK_ROWS;
    if (left === undefined && isClosed && end - start === block.rows) kept.append(block);
    else {
      const rows = left ?? Array.from({ length: end - start }, (_, i) => start + i);
      if (rows.length > 0) kept.append(block.select(rows));
    }
    return first + end;
  }
}

/** Which of the rows [from, to) of a block are left; `undefined` when all are. */
export type RowsLeft = (block: RowBlock, from: number, to: number) => readonly number[] | undefined;

/** Rows that are copied at once: about a millisecond. */
const COPIED_ROWS = SHARED_BLOCK_ROWS;

const NO_BLOCKS: RowBlock[] = [];
/** Shared by all tables of one block. */
const FIRST_ROWS: number[] = [0];

function fieldsOf(blocks: readonly RowBlock[]): Map<string, FieldType> {
  const fields = new Map<string, FieldType>();
  for (const block of blocks) addFields(fields, block);
  return fields;
}

function addFields(fields: Map<string, FieldType>, block: RowBlock): void {
  for (const { name, type } of block.fields) {
    const known = fields.get(name);
    if (known === undefined) fields.set(name, type);
    else assert(known === type, 'a field has one type within a table');
  }
}
