// The memory of consecutive points with one layout: cells of eight bytes that are floats or
// integers, and arrays beside them for other kinds of values, if there are any.
import { NO_TEXTS } from '@tidemark/core';

import type { Point } from './point.ts';
import { CellKind } from './point-layout.ts';
import type { LayoutOfSchema, PointLayout } from './point-layout.ts';
import type { Field, Rows, Value } from './schema.ts';
import type { Series } from './series.ts';

export class PointCells {
  readonly layout: PointLayout;
  /** In rows. */
  readonly capacity: number;
  /** Views of one buffer; the first cell of a row is its time. */
  readonly floats: Float64Array;
  readonly integers: BigInt64Array;
  /** Points or batches refer to the rows: they do not change any more. */
  isShared = false;
  readonly #booleans: Uint8Array | undefined;
  /** By cell. */
  readonly #texts: string[] | undefined;
  /** Of all rows, while they have the same, as in most windows. */
  #onlySeries: Series | undefined;
  /** By row, from the first row of another series on. */
  #series: Series[] | undefined;

  constructor(layout: PointLayout, capacity: number) {
    this.layout = layout;
    this.capacity = capacity;
    const count = capacity * layout.stride;
    this.floats = new Float64Array(count);
    this.integers = new BigInt64Array(this.floats.buffer);
    if (layout.kinds.includes(CellKind.Boolean)) this.#booleans = new Uint8Array(count);
    if (layout.kinds.includes(CellKind.Text)) this.#texts = Array.from({ length: count }, () => '');
  }

  set(row: number, point: Point, { fields, floatColumns }: LayoutOfSchema): void {
    const { floats } = this;
    const first = row * this.layout.stride;
    this.integers[first] = point.time;
    if (this.#series !== undefined) this.#series[row] = point.series;
    else if (point.series !== this.#onlySeries) this.#setSeries(row, point.series);
    if (floatColumns === undefined) {
      this.#setValues(first + 1, point, fields);
      return;
    }
    const { columns } = point.rows;
    const at = point.row;
    for (let i = 0; i < floatColumns.length; i++) {
      floats[first + 1 + i] = (columns[floatColumns[i] as number] as Float64Array)[at] as number;
    }
  }

  #setValues(first: number, point: Point, fields: readonly Field[]): void {
    const { kinds } = this.layout;
    for (let i = 0; i < fields.length; i++) {
      const value = (fields[i] as Field).read(point);
      switch (kinds[i]) {
        case CellKind.Float:
          this.floats[first + i] = value as number;
          break;
        case CellKind.Integer:
          this.integers[first + i] = value as bigint;
          break;
        case CellKind.Boolean:
          (this.#booleans as Uint8Array)[first + i] = value === true ? 1 : 0;
          break;
        case CellKind.Text:
          (this.#texts as string[])[first + i] = value as string;
          break;
      }
    }
  }

  #setSeries(row: number, series: Series): void {
    const only = this.#onlySeries;
    if (only === undefined || row === 0) {
      this.#onlySeries = series;
      return;
    }
    this.#series = Array.from({ length: row }, () => only);
    this.#series.push(series);
  }

  seriesOf(row: number): Series {
    return (this.#series === undefined ? this.#onlySeries : this.#series[row]) as Series;
  }

  timeOf(row: number): bigint {
    return this.integers[row * this.layout.stride] as bigint;
  }

  /** The value of a field, by its index in the layout's schema. */
  valueOf(row: number, field: number): Value {
    const cell = row * this.layout.stride + 1 + field;
    switch (this.layout.kinds[field] as CellKind) {
      case CellKind.Float:
        return this.floats[cell] as number;
      case CellKind.Integer:
        return this.integers[cell] as bigint;
      case CellKind.Boolean:
        return (this.#booleans as Uint8Array)[cell] === 1;
      case CellKind.Text:
        return (this.#texts as string[])[cell] as string;
      case CellKind.Null:
        return null;
    }
  }

  /** Copies rows `[start, end)` of the same layout to the beginning. */
  copy(from: PointCells, start: number, end: number): void {
    const { stride } = this.layout;
    const [first, last] = [start * stride, end * stride];
    if (from === this) this.floats.copyWithin(0, first, last);
    else this.floats.set(from.floats.subarray(first, last));
    this.#copySeries(from, start, end);
    this.#booleans?.set((from.#booleans as Uint8Array).subarray(first, last));
    const texts = this.#texts;
    if (texts === undefined) return;
    for (let cell = first; cell < last; cell++) {
      texts[cell - first] = (from.#texts as string[])[cell] as string;
    }
  }

  #copySeries(from: PointCells, start: number, end: number): void {
    this.#onlySeries = start === end ? undefined : from.seriesOf(start);
    const series = from.#series?.slice(start, end);
    // Those of other series may have left the window.
    const isMixed = series?.some((each) => each !== this.#onlySeries) === true;
    this.#series = isMixed ? series : undefined;
  }

  /**
   * For points of the layout's schema, whose row is the number of its first cell. The views are
   * only for those points: in each of very many windows they would take a good part of the memory.
   */
  rows(): Rows {
    return { columns: this.layout.kinds.map((kind, i) => this.#column(kind, i + 1)) };
  }

  #column(kind: CellKind, from: number): Rows['columns'][number] {
    const count = this.floats.length;
    switch (kind) {
      case CellKind.Float:
        return this.floats.subarray(from);
      case CellKind.Integer:
        return this.integers.subarray(from);
      case CellKind.Boolean:
        return (this.#booleans as Uint8Array).subarray(from);
      case CellKind.Text:
        return {
          codes: numbersTo(count).subarray(from),
          texts: NO_TEXTS,
          strings: this.#texts as string[],
        };
      case CellKind.Null:
        return Array.from({ length: count }, () => null);
    }
  }
}

let numbers = new Uint32Array(0);

/** The codes of texts by cell, as each cell has a text of its own: 0, 1 and so on to `count`. */
function numbersTo(count: number): Uint32Array {
  if (numbers.length < count) numbers = Uint32Array.from({ length: count * 2 }, (_, i) => i);
  return numbers;
}
