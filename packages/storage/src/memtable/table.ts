// Rows of one measurement in one shard's memtable: blocks of rows in arrival order, and per series a chain through its
// stretches, newest first: neighbouring rows of one batch, as batches mostly come by series. Batches of some size become blocks as they are, nothing of them is copied; smaller ones are
// gathered in blocks of a bounded size. So neither a write nor a reader ever waits for work on the whole table.
//
// Append-only, so that a snapshot is a number of rows. Rows are numbered through all blocks.
import { assert, MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';

import { PagedNumbers } from './paged-numbers.ts';
import { RowBlock } from './row-block.ts';
import type { TimeBounds } from './row-block.ts';
import type { Uint32List } from '../uint32-list.ts';
import { RowPick } from './row-pick.ts';
import { stretchStarts } from './stretches.ts';

/** Finds the place of a series within its measurement. */
export type SeriesOrdinals = { ordinalOf(series: number): number };

/** What of a batch becomes a block of its own; smaller ones share blocks. */
const OWN_BLOCK_ROWS = 1024;
/** Small batches are gathered in blocks of at most so many rows: growing one copies little. */
const SHARED_BLOCK_ROWS = 8192;

export class Table {
  readonly measurementId: number;
  readonly #index: SeriesOrdinals;
  readonly #blocks: RowBlock[] = [];
  /** Number of each block's first row. */
  readonly #firstRows: number[] = [];
  /** Fields of all blocks, in the order in which they came. */
  readonly #fields = new Map<string, FieldType>();
  /**
   * Stretch of a series (plus one, 0 is none): its newest by ordinal, and the one before it by stretch. Stretches cover all
   * rows: each ends where the next one begins.
   */
  readonly #newest = new PagedNumbers();
  readonly #before = new PagedNumbers();
  readonly #firstOf = new PagedNumbers();
  #stretches = 0;
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
    return this.#fields;
  }

  /** Bounds of the rows; minimum above maximum when there are none. */
  get timeBounds(): TimeBounds {
    return { min: this.#minTime, max: this.#maxTime };
  }

  get memoryBytes(): number {
    const chainBytes =
      this.#newest.memoryBytes + this.#before.memoryBytes + this.#firstOf.memoryBytes;
    return this.#blockBytes + chainBytes;
  }

  /**
   * Appends rows. A block of some size is taken over: it is not the caller's any more. `starts` are `stretchStarts` of it.
   */
  append(block: RowBlock, starts = stretchStarts(block.series, block.rows)): void {
    const count = block.rows;
    if (count === 0) return;
    for (const { name, type } of block.columns) this.#addField(name, type);
    this.#chain(block.series, starts);
    const { min, max } = block.timeBounds;
    if (min < this.#minTime) this.#minTime = min;
    if (max > this.#maxTime) this.#maxTime = max;
    if (count >= OWN_BLOCK_ROWS) {
      this.#push(block);
      this.#blockBytes += block.memoryBytes;
      this.#isOpen = false;
    } else {
      const shared = this.#sharedBlock(count);
      const before = shared.memoryBytes;
      shared.append(block);
      this.#blockBytes += shared.memoryBytes - before;
    }
    this.#rows += count;
  }

  #addField(name: string, type: FieldType): void {
    const known = this.#fields.get(name);
    if (known === undefined) this.#fields.set(name, type);
    else assert(known === type, 'a field has one type within a table');
  }

  #push(block: RowBlock): void {
    this.#blocks.push(block);
    this.#firstRows.push(this.#rows);
  }

  #sharedBlock(count: number): RowBlock {
    const last = this.#blocks.at(-1);
    if (this.#isOpen && last !== undefined && last.rows + count <= SHARED_BLOCK_ROWS) return last;
    const block = new RowBlock(this.measurementId);
    this.#push(block);
    this.#isOpen = true;
    return block;
  }

  #chain(series: Uint32Array, starts: Uint32Array): void {
    const newest = this.#newest;
    for (const start of starts) {
      const stretch = this.#stretches++;
      const ordinal = this.#index.ordinalOf(series[start]!);
      if (ordinal >= this.#ordinalEnd) this.#ordinalEnd = ordinal + 1;
      this.#firstOf.set(stretch, this.#rows + start);
      this.#before.set(stretch, newest.get(ordinal));
      newest.set(ordinal, stretch + 1);
    }
  }

  #endOf(stretch: number): number {
    return stretch + 1 < this.#stretches ? this.#firstOf.get(stretch + 1) : this.#rows;
  }

  /** The newest stretch of a series that begins below `limit`, plus one; 0 for none. */
  #newestBelow(ordinal: number, limit: number): number {
    let stretch = this.#newest.get(ordinal);
    while (stretch > 0 && this.#firstOf.get(stretch - 1) >= limit) {
      stretch = this.#before.get(stretch - 1);
    }
    return stretch;
  }

  /** Adds the rows below `limit` of the series with this ordinal to the list, in arrival order. */
  listRows(ordinal: number, limit: number, list: Uint32List): void {
    const newest = this.#newestBelow(ordinal, limit);
    let count = 0;
    for (let s = newest; s > 0; s = this.#before.get(s - 1)) {
      count += Math.min(limit, this.#endOf(s - 1)) - this.#firstOf.get(s - 1);
    }
    let at = list.extend(count);
    for (let s = newest; s > 0; s = this.#before.get(s - 1)) {
      at = list.fillBefore(at, this.#firstOf.get(s - 1), Math.min(limit, this.#endOf(s - 1)));
    }
  }

  /** The first ordinal from `from` on whose series has rows; `ordinalEnd` when there is none. */
  nextOrdinal(from: number): number {
    return this.#newest.nextSet(from, this.#ordinalEnd);
  }

  /** Whether the series with this ordinal has rows below `limit`. */
  hasRows(ordinal: number, limit: number): boolean {
    return this.#newestBelow(ordinal, limit) > 0;
  }

  /** The given rows, to be copied column by column. */
  pick(rows: Uint32Array): RowPick {
    return new RowPick({ blocks: this.#blocks, firstRows: this.#firstRows }, rows);
  }

  /** The same rows for an index that gives series other ordinals. This table must not get rows any more. */
  withOrdinals(index: SeriesOrdinals): Table {
    const table = new Table(this.measurementId, index);
    for (const [name, type] of this.#fields) table.#addField(name, type);
    for (const block of this.#blocks) {
      table.#chain(block.series, stretchStarts(block.series, block.rows));
      table.#push(block);
      table.#rows += block.rows;
    }
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
