// Rows of one measurement in one shard, in the order of arrival, as append-only columns: a batch
// being written, a table of a log record, and the parts that a table of the memtable consists of.
//
// Because blocks are append-only, a snapshot costs nothing: a reader remembers the row count, rows
// below it never change, and growing replaces arrays instead of moving what a reader holds.
import {
  assert,
  columnLength,
  compactTexts,
  MAX_INT64,
  MIN_INT64,
  TextBuilder,
} from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';
import type { StagedValues } from '@tidemark/kernels';

import { countValid } from './presence.ts';
import type { SeriesId } from './series-id.ts';
import { sparseRowsOf, SparseValues } from './sparse-values.ts';

export type FieldArray = Float64Array | BigInt64Array | BigUint64Array | Uint8Array | Uint32Array;

/**
 * One field. `valid` is undefined while all rows of the block hold a value. Strings hold codes of
 * `texts`.
 */
export type BlockColumn = {
  readonly name: string;
  readonly type: FieldType;
  values: FieldArray;
  valid: Uint8Array | undefined;
  readonly texts: TextBuilder | undefined;
};

const INITIAL_ROWS = 16;
/** Blocks with more columns look names up in a map instead of going through them. */
const NAMED_COLUMNS = 8;
/** Memory of a block, and of each of its columns, beside rows and texts; measured. */
const BLOCK_BYTES = 380;
const COLUMN_BYTES = 220;
const NO_COLUMNS: readonly BlockColumn[] = [];

export type TimeBounds = { readonly min: bigint; readonly max: bigint };

export class RowBlock {
  readonly measurementId: number;
  series: Uint32Array;
  times: BigInt64Array;
  columns: readonly BlockColumn[] = NO_COLUMNS;
  /** The values of a block without columns, whose rows have few of many fields. */
  sparse: SparseValues | undefined;
  /**
   * Index of a column by its name, once there are more than `NAMED_COLUMNS`.
   */
  #columnOf: Map<string, number> | undefined;
  #rows = 0;
  #capacity: number;
  #minTime = MAX_INT64;
  #maxTime = MIN_INT64;

  constructor(measurementId: number, capacity = INITIAL_ROWS) {
    this.measurementId = measurementId;
    this.#capacity = capacity;
    this.series = new Uint32Array(capacity);
    this.times = new BigInt64Array(capacity);
  }

  /**
   * A block without columns that takes ownership of arrays; `bounds` are those of `times`.
   */
  static adopt(
    measurementId: number,
    series: Uint32Array,
    times: BigInt64Array,
    bounds: TimeBounds,
  ): RowBlock {
    assert(series.length === times.length, 'a series and a time per row');
    const block = new RowBlock(measurementId, 0);
    block.series = series;
    block.times = times;
    block.#rows = times.length;
    block.#capacity = times.length;
    block.#minTime = bounds.min;
    block.#maxTime = bounds.max;
    return block;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Bounds of the rows; minimum above maximum when there are none. */
  get timeBounds(): TimeBounds {
    return { min: this.#minTime, max: this.#maxTime };
  }

  /** Memory of rows, texts and their containers, without the room kept for further rows. */
  get memoryBytes(): number {
    let rowBytes = 12;
    let textBytes = BLOCK_BYTES + this.columns.length * COLUMN_BYTES;
    for (const column of this.columns) {
      rowBytes += column.values.BYTES_PER_ELEMENT + (column.valid === undefined ? 0 : 1);
      textBytes += column.texts?.sizeBytes ?? 0;
    }
    if (this.sparse !== undefined) textBytes += this.sparse.memoryBytes;
    return this.#rows * rowBytes + textBytes;
  }

  /** Values that are not null, of all columns. Counts them. */
  get valueCount(): number {
    let count = this.sparse?.count ?? 0;
    for (const { valid } of this.columns) {
      count += valid === undefined ? this.#rows : countValid(valid, this.#rows);
    }
    return count;
  }

  get fields(): readonly { readonly name: string; readonly type: FieldType }[] {
    return this.sparse?.fields ?? this.columns;
  }

  typeOf(name: string): FieldType | undefined {
    return this.sparse === undefined ? this.column(name)?.type : this.sparse.typeOf(name);
  }

  columnIndex(name: string): number {
    if (this.#columnOf !== undefined) return this.#columnOf.get(name) ?? -1;
    for (let i = 0; i < this.columns.length; i++) if (this.columns[i]!.name === name) return i;
    return -1;
  }

  column(name: string): BlockColumn | undefined {
    return this.columns[this.columnIndex(name)];
  }

  /** Index of the column, which is added (all null so far) when it is new. */
  addColumn(name: string, type: FieldType): number {
    const known = this.columnIndex(name);
    if (known >= 0) {
      assert(this.columns[known]?.type === type, 'a field has one type within a block');
      return known;
    }
    return this.#pushColumn({
      name,
      type,
      values: newFieldArray(type, this.#capacity),
      valid: this.#rows === 0 ? undefined : new Uint8Array(this.#capacity),
      texts: type === 'string' ? new TextBuilder() : undefined,
    });
  }

  #pushColumn(column: BlockColumn): number {
    const index = this.columns.length;
    // An array literal of one element takes room for one; the first `push` takes room for 17.
    if (index === 0) this.columns = [column];
    else (this.columns as BlockColumn[]).push(column);
    if (index === NAMED_COLUMNS) {
      this.#columnOf = new Map(this.columns.map(({ name }, at) => [name, at]));
    } else this.#columnOf?.set(column.name, index);
    return index;
  }

  /** Appends a row whose fields are all null so far and returns its number. */
  addRow(series: SeriesId, time: bigint): number {
    const row = this.#rows;
    if (row === this.#capacity) this.#grow(row + 1);
    this.series[row] = series;
    this.times[row] = time;
    this.#includeTime(time);
    this.#rows = row + 1;
    return row;
  }

  #includeTime(time: bigint): void {
    if (time < this.#minTime) this.#minTime = time;
    if (time > this.#maxTime) this.#maxTime = time;
  }

  /** Appends all rows of `other`. Its columns must not contradict the types here. */
  append(other: RowBlock): void {
    const start = this.#rows;
    const count = other.rows;
    if (count === 0) return;
    if (start + count > this.#capacity) this.#grow(start + count);
    this.sparse?.append(other.sparseRows());
    if (this.sparse === undefined) this.#appendColumns(other, start, count);
    const { min, max } = other.timeBounds;
    this.#includeTime(min);
    this.#includeTime(max);
    this.series.set(other.series.subarray(0, count), start);
    this.times.set(other.times.subarray(0, count), start);
    this.#rows = start + count;
  }

  #appendColumns(other: RowBlock, start: number, count: number): void {
    assert(other.sparse === undefined, 'sparse rows are appended to sparse ones');
    for (const column of other.columns) this.addColumn(column.name, column.type);
    for (const column of this.columns) {
      const from = other.columns[other.columnIndex(column.name)];
      if (from === undefined) {
        column.valid ??= new Uint8Array(this.#capacity).fill(1, 0, start);
      } else this.#appendColumn(column, from, start, count);
    }
  }

  /** Sets all rows of a field that is new here. */
  setColumn(name: string, from: Column): void {
    assert(this.columnIndex(name) < 0, 'the field is new');
    assert(columnLength(from) === this.#rows, 'one value per row');
    const valid = from.valid === undefined ? undefined : this.#padded(from.valid);
    const { type } = from;
    const texts = type === 'string' ? TextBuilder.of(from.texts) : undefined;
    let values = type === 'string' ? from.codes : from.values;
    if (values.length !== this.#capacity) {
      const padded = newFieldArray(type, this.#capacity);
      copyValues(padded, values, 0);
      values = padded;
    }
    this.#pushColumn({ name, type, values, valid, texts });
  }

  #padded(valid: Uint8Array): Uint8Array {
    if (valid.length === this.#capacity) return valid;
    const padded = new Uint8Array(this.#capacity);
    padded.set(valid);
    return padded;
  }

  /**
   * A new block of the given rows, in their order. Columns without a value among them are left out.
   */
  select(rows: ArrayLike<number>): RowBlock {
    const result = new RowBlock(this.measurementId, Math.max(rows.length, 1));
    for (let i = 0; i < rows.length; i++) {
      result.addRow(this.series[rows[i]!]!, this.times[rows[i]!]!);
    }
    if (this.sparse !== undefined) return result.setSparse(this.sparse.rows(rows));
    for (const column of this.columns) {
      const { valid } = column;
      const values = newFieldArray(column.type, rows.length);
      const picked = valid === undefined ? undefined : new Uint8Array(rows.length);
      let hasValue = valid === undefined;
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i]!;
        values[i] = column.values[row]!;
        if (picked !== undefined && valid![row] === 1) {
          picked[i] = 1;
          hasValue = true;
        }
      }
      if (!hasValue) continue;
      const { name, type } = column;
      if (column.texts === undefined) {
        result.#pushColumn({ name, type, values, valid: picked, texts: undefined });
      } else result.setColumn(name, textsOfRows(values, picked, column.texts));
    }
    return result;
  }

  /** Sets the values of a block without columns. */
  setSparse(rows: StagedValues): this {
    assert(this.columns.length === 0, 'a block has columns or sparse values');
    assert(rows.ends.length === this.#rows, 'the values of each row');
    this.sparse = new SparseValues();
    this.sparse.append(rows);
    return this;
  }

  /** A block of the same rows without columns; arrays of series and times are shared. */
  toSparse(): RowBlock {
    const { min, max } = this.timeBounds;
    const series = this.series.subarray(0, this.#rows);
    const times = this.times.subarray(0, this.#rows);
    const block = RowBlock.adopt(this.measurementId, series, times, { min, max });
    return block.setSparse(this.sparseRows());
  }

  /** The values row by row. */
  sparseRows(): StagedValues {
    if (this.sparse !== undefined) return this.sparse.rows();
    return sparseRowsOf(this.columns, this.#rows);
  }

  #appendColumn(column: BlockColumn, from: BlockColumn, start: number, count: number): void {
    if (column.texts !== undefined && from.texts !== undefined) {
      const first = column.texts.addAll(from.texts.texts);
      const target = column.values as Uint32Array;
      const codes = from.values as Uint32Array;
      for (let i = 0; i < count; i++) target[start + i] = codes[i]! + first;
    } else copyValues(column.values, from.values.subarray(0, count) as FieldArray, start);
    if (from.valid !== undefined) {
      column.valid ??= new Uint8Array(this.#capacity).fill(1, 0, start);
      column.valid.set(from.valid.subarray(0, count), start);
    } else column.valid?.fill(1, start, start + count);
  }

  #grow(needed: number): void {
    // Doubles up to 64k rows and grows by half above: copies stay few, and large blocks have little
    // unused room.
    const wanted = this.#capacity * (this.#capacity < 1 << 16 ? 2 : 1.5);
    const capacity = Math.max(needed, Math.ceil(wanted), INITIAL_ROWS);
    const series = new Uint32Array(capacity);
    series.set(this.series);
    this.series = series;
    const times = new BigInt64Array(capacity);
    times.set(this.times);
    this.times = times;
    for (const column of this.columns) {
      const values = newFieldArray(column.type, capacity);
      copyValues(values, column.values, 0);
      column.values = values;
      if (column.valid !== undefined) {
        const valid = new Uint8Array(capacity);
        valid.set(column.valid);
        column.valid = valid;
      }
    }
    this.#capacity = capacity;
  }
}

/** A column of rows that are copied, with hardly more texts than theirs. */
function textsOfRows(
  values: FieldArray,
  valid: Uint8Array | undefined,
  { texts }: TextBuilder,
): Column {
  return compactTexts({ type: 'string', codes: values as Uint32Array, texts, valid });
}

export function newFieldArray(type: FieldType, length: number): FieldArray {
  switch (type) {
    case 'float':
      return new Float64Array(length);
    case 'integer':
      return new BigInt64Array(length);
    case 'unsigned':
      return new BigUint64Array(length);
    case 'boolean':
      return new Uint8Array(length);
    case 'string':
      return new Uint32Array(length);
  }
}

/** `target.set(source, at)` for arrays of the same kind. */
export function copyValues(target: FieldArray, source: FieldArray, at: number): void {
  assert(target.constructor === source.constructor, 'arrays of one kind');
  (target as Uint8Array).set(source as Uint8Array, at);
}
