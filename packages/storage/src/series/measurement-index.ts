// Series of one measurement: their ids by ordinal, and per tag key a column of symbols by ordinal.
import { assert, compareBytes } from '@tidemark/core';

import type { SymbolId } from '../columns/series-id.ts';
import type { SeriesId } from '../columns/series-id.ts';

/**
 * Symbol + 1 per ordinal, 0 where the series lacks the tag. Shorter than the series list when the
 * tail lacks it.
 */
export type TagColumn = { values: Uint32Array };

/** A column as a checkpoint holds it. */
export type LoadedColumn = { readonly key: string; readonly values: Uint32Array };

type NamedColumn = { readonly key: string; readonly column: TagColumn };

export class MeasurementIndex {
  readonly id: number;
  readonly name: string;
  /** In the table of series keys. */
  readonly number: number;
  /** Series with data in at least one shard. */
  liveSeries = 0;
  /** Counts series that left the table of keys or came back into it. */
  removals = 0;
  /** Series that are not in it. */
  removedSeries = 0;
  // Created with the first tag and the second series. Clients that make up measurement names mostly
  // write neither, and such measurements should take little memory.
  #columns: Map<string, TagColumn> | undefined;
  #sorted: NamedColumn[] | undefined;
  /** The column that series had at a position of their tags, with the number of its key. */
  #byPosition: { readonly keyNumber: number; readonly column: TagColumn }[] | undefined;
  #seriesIds: Uint32Array = NO_IDS;
  /** Id of the first series, while there is no array of ids. */
  #firstId = 0;
  #count = 0;

  constructor(id: number, name: string, number: number) {
    this.id = id;
    this.name = name;
    this.number = number;
  }

  /** Number of series ever seen, live or not. */
  get seriesCount(): number {
    return this.#count;
  }

  get memoryBytes(): number {
    let bytes = this.#seriesIds.byteLength;
    for (const column of this.#columns?.values() ?? []) bytes += column.values.byteLength;
    return MEASUREMENT_BYTES + bytes;
  }

  /** Ids by ordinal, ascending. A view, valid until the next `addSeries`. */
  seriesIds(): Uint32Array {
    if (this.#count === 1) return Uint32Array.of(this.seriesId(0));
    return this.#seriesIds.subarray(0, this.#count);
  }

  seriesId(ordinal: number): SeriesId {
    return ordinal < this.#seriesIds.length ? this.#seriesIds[ordinal]! : this.#firstId;
  }

  /** Keys of tags that its series have or had. */
  get tagKeyCount(): number {
    return this.#columns?.size ?? 0;
  }

  column(key: string): TagColumn | undefined {
    return this.#columns?.get(key);
  }

  /** Columns in bytewise order of their keys. */
  sortedTagColumns(): readonly NamedColumn[] {
    this.#sorted ??= [...(this.#columns ?? [])]
      .map(([key, column]) => ({ key, column }))
      .sort((a, b) => compareBytes(a.key, b.key));
    return this.#sorted;
  }

  /** Sets the ids and columns of an empty measurement. */
  load(ids: Uint32Array, columns: readonly LoadedColumn[]): void {
    assert(this.#count === 0, 'a measurement is loaded once');
    this.#seriesIds = ids;
    this.#count = ids.length;
    if (columns.length > 0) {
      this.#columns = new Map(columns.map(({ key, values }) => [key, { values }]));
    }
    this.#sorted = undefined;
  }

  addSeries(id: SeriesId): number {
    const ordinal = this.#count++;
    if (ordinal === 0) {
      this.#firstId = id;
      return ordinal;
    }
    if (ordinal === 1 && this.#seriesIds.length === 0) {
      this.#seriesIds = new Uint32Array(4);
      this.#seriesIds[0] = this.#firstId;
    }
    if (ordinal >= this.#seriesIds.length) this.#seriesIds = grow(this.#seriesIds, ordinal + 1);
    this.#seriesIds[ordinal] = id;
    return ordinal;
  }

  /** The column of a tag key; series mostly have the same keys at the same positions. */
  columnAt(position: number, keyNumber: number, keyOf: (number: number) => string): TagColumn {
    const guess = this.#byPosition?.[position];
    if (guess !== undefined && guess.keyNumber === keyNumber) return guess.column;
    const key = keyOf(keyNumber);
    let column = this.#columns?.get(key);
    if (column === undefined) {
      column = { values: new Uint32Array(Math.max(4, this.#count)) };
      this.#columns ??= new Map();
      this.#columns.set(key, column);
      this.#sorted = undefined;
    }
    this.#byPosition ??= [];
    this.#byPosition[position] = { keyNumber, column };
    return column;
  }

  setColumn(column: TagColumn, ordinal: number, value: SymbolId): void {
    if (ordinal >= column.values.length) column.values = grow(column.values, ordinal + 1);
    column.values[ordinal] = value + 1;
  }
}

const NO_IDS = new Uint32Array(0);
/** Memory of a measurement without series and tags, entries in maps included; measured. */
const MEASUREMENT_BYTES = 320;

function grow(array: Uint32Array, needed: number): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(Math.max(needed, Math.ceil(array.length * 1.5)));
  result.set(array);
  return result;
}
