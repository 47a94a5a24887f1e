// Series of one measurement: their ids by ordinal, and per tag key a column of text ids by ordinal.
import { compareBytes } from '@tidemark/core';

import { utf8Text } from '../bytes.ts';
import { unescaped } from './series-key.ts';
import type { SeriesId, TextId } from './series-index.ts';

/** Text id + 1 per ordinal, 0 where the series lacks the tag. Shorter than the series list when the tail lacks it. */
export type TagColumn = { values: Uint32Array };

type NamedColumn = { readonly key: string; readonly column: TagColumn };

export class MeasurementIndex {
  readonly id: number;
  readonly name: string;
  /** Series with data in at least one shard. */
  liveSeries = 0;
  readonly #columns = new Map<string, TagColumn>();
  #sorted: NamedColumn[] | undefined;
  readonly #byPosition: { readonly escapedKey: Uint8Array; readonly column: TagColumn }[] = [];
  #seriesIds: Uint32Array = new Uint32Array(4);
  #count = 0;

  constructor(id: number, name: string) {
    this.id = id;
    this.name = name;
  }

  /** Number of series ever seen, live or not. */
  get seriesCount(): number {
    return this.#count;
  }

  get memoryBytes(): number {
    let bytes = this.#seriesIds.byteLength;
    for (const column of this.#columns.values()) bytes += column.values.byteLength;
    return bytes;
  }

  /** Ids by ordinal, ascending. A view, valid until the next `addSeries`. */
  seriesIds(): Uint32Array {
    return this.#seriesIds.subarray(0, this.#count);
  }

  seriesId(ordinal: number): SeriesId {
    return this.#seriesIds[ordinal]!;
  }

  column(key: string): TagColumn | undefined {
    return this.#columns.get(key);
  }

  /** Columns in bytewise order of their keys. */
  sortedTagColumns(): readonly NamedColumn[] {
    this.#sorted ??= [...this.#columns]
      .map(([key, column]) => ({ key, column }))
      .sort((a, b) => compareBytes(a.key, b.key));
    return this.#sorted;
  }

  addSeries(id: SeriesId): number {
    const ordinal = this.#count++;
    if (ordinal >= this.#seriesIds.length) this.#seriesIds = grow(this.#seriesIds, ordinal + 1);
    this.#seriesIds[ordinal] = id;
    return ordinal;
  }

  /** The column of a tag key, given in its escaped form by bytes [start, end); series mostly have the same keys at the same positions. */
  columnAt(position: number, bytes: Uint8Array, start: number, end: number): TagColumn {
    const guess = this.#byPosition[position];
    if (guess !== undefined && isEqual(guess.escapedKey, bytes, start, end)) return guess.column;
    const escapedKey = bytes.slice(start, end);
    const key = utf8Text(unescaped(escapedKey));
    let column = this.#columns.get(key);
    if (column === undefined) {
      column = { values: new Uint32Array(Math.max(4, this.#count)) };
      this.#columns.set(key, column);
      this.#sorted = undefined;
    }
    this.#byPosition[position] = { escapedKey, column };
    return column;
  }

  setColumn(column: TagColumn, ordinal: number, value: TextId): void {
    if (ordinal >= column.values.length) column.values = grow(column.values, ordinal + 1);
    column.values[ordinal] = value + 1;
  }
}

function isEqual(a: Uint8Array, b: Uint8Array, start: number, end: number): boolean {
  if (a.length !== end - start) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[start + i]) return false;
  return true;
}

function grow(array: Uint32Array, needed: number): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(Math.max(needed, Math.ceil(array.length * 1.5)));
  result.set(array);
  return result;
}
