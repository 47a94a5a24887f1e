// Windows of a string field for each group. Semantics: `AggregateBatch` in the query package.
import type { Column, StringColumn, Texts } from '@tidemark/core';
import {
  AssertionFailed,
  compareTexts,
  copyTextAt,
  TextBuilder,
  textBytesAt,
} from '@tidemark/core';
import type { AggregateColumn, AggregateFunction } from '@tidemark/query';

import { nullColumn } from '../columns/null-column.ts';
import type { ColumnMeta } from '../segment/format.ts';
import type { ChunkReader } from './chunk-reader.ts';
import type { ColumnWants } from './column-plan.ts';
import { WindowsByGroup } from './windows-by-group.ts';
import type { WindowsTotal } from './windows-by-group.ts';
import { windowOf } from './windows.ts';
import type { FieldResult, FieldWindows, GroupedWindows, WindowsRequest } from './windows.ts';

/** The bytes of a text; a function where it is in a chunk of which nothing else has been read. */
type TextPoint = { readonly text: Uint8Array | (() => Uint8Array); readonly time: bigint };
type End = 'first' | 'last';
/** Has only those ends that functions ask for. */
type TextWindow = { count: number; first: TextPoint | undefined; last: TextPoint | undefined };

/** Rows of one window, of which one end or the other may replace that of the window. */
type AddedRows = {
  readonly count: number;
  readonly timeOf: (end: End) => bigint;
  readonly pointOf: (end: End) => TextPoint;
};

export function groupedTexts(
  request: WindowsRequest,
  functions: readonly AggregateFunction[],
): GroupedWindows {
  return new WindowsByGroup((total) => new TextWindows(request, functions, total));
}

/** Strings have `count`, `first` and `last`. Among equal times the larger text wins. */
class TextWindows implements FieldWindows {
  readonly #request: WindowsRequest;
  readonly #functions: readonly AggregateFunction[];
  readonly #ends: readonly End[];
  readonly #total: WindowsTotal;
  readonly #windows = new Map<bigint, TextWindow>();
  readonly wants: ColumnWants;

  constructor(
    request: WindowsRequest,
    functions: readonly AggregateFunction[],
    total: WindowsTotal,
  ) {
    this.#request = request;
    this.#functions = functions;
    this.#ends = functions.filter((name) => name === 'first' || name === 'last');
    this.#total = total;
    // Without nulls, the first and last point of the column are those of the chunk. Not used with
    // time windows, which may be so many that reading their texts at the end takes long.
    const isToldBy = ({ validBytes }: ColumnMeta): boolean =>
      request.window === undefined && validBytes === 0;
    this.wants = { type: 'string', countsOnly: false, isToldBy };
  }

  get windowCount(): number {
    return this.#windows.size;
  }

  add(times: BigInt64Array, column: Column): void {
    if (column.type !== 'string') return;
    for (let from = 0; from < times.length;) {
      const { start, end } = windowOf(times[from]!, this.#request);
      const added = new RowsOfWindow(times, column);
      do added.add(from++);
      while (from < times.length && times[from]! >= start && times[from]! < end);
      if (added.count > 0) this.#add(start, added);
    }
  }

  addCached(): never {
    throw new AssertionFailed('texts are not cached');
  }

  addEntry(chunk: ChunkReader, index: number, start: bigint): void {
    const { count } = chunk.columns[index]!;
    const { minTime, maxTime } = chunk.meta;
    const timeOf = (end: End): bigint => (end === 'first' ? minTime : maxTime);
    // Nearly all of these texts are replaced by those of other chunks before they are read.
    const read = (end: End): (() => Uint8Array) =>
      once(() => textBytesAt(chunk.text(index, end), 0));
    this.#add(start, { count, timeOf, pointOf: (end) => ({ text: read(end), time: timeOf(end) }) });
  }

  finish(descending: boolean): FieldResult {
    const starts = BigInt64Array.from(this.#windows.keys()).sort();
    if (descending) starts.reverse();
    const windows = Array.from(starts, (start) => this.#windows.get(start)!);
    const columns = this.#functions.map((name) => textColumn(windows, name));
    return { starts, columns, points: [] };
  }

  reset(): void {
    this.#total.windowCount -= this.#windows.size;
    for (const { first, last } of this.#windows.values()) {
      this.#total.heldBytes -= WINDOW_BYTES + weightOf(first) + weightOf(last);
    }
    this.#windows.clear();
  }

  #add(start: bigint, added: AddedRows): void {
    let window = this.#windows.get(start);
    if (window === undefined) {
      window = { count: 0, first: undefined, last: undefined };
      this.#windows.set(start, window);
      this.#total.windowCount++;
      this.#total.heldBytes += WINDOW_BYTES;
    }
    window.count += added.count;
    for (const end of this.#ends) {
      const held = window[end];
      const time = added.timeOf(end);
      if (held !== undefined && (end === 'first' ? time > held.time : time < held.time)) continue;
      const point = added.pointOf(end);
      if (held?.time === time && Buffer.compare(textOf(point), textOf(held)) <= 0) continue;
      this.#total.heldBytes += weightOf(point) - weightOf(held);
      window[end] = point;
    }
  }
}

/** Finds the first and the last of rows of one window, in any order. */
class RowsOfWindow implements AddedRows {
  readonly #times: BigInt64Array;
  readonly #column: StringColumn;
  /** Number of rows that have a text. */
  count = 0;
  #first = 0;
  #last = 0;

  constructor(times: BigInt64Array, column: StringColumn) {
    this.#times = times;
    this.#column = column;
  }

  add(row: number): void {
    if (this.#column.valid?.[row] === 0) return;
    if (this.count++ === 0) {
      this.#first = row;
      this.#last = row;
      return;
    }
    const times = this.#times;
    const time = times[row]!;
    const [first, last] = [times[this.#first]!, times[this.#last]!];
    if (time < first || (time === first && this.#isLarger(row, this.#first))) this.#first = row;
    if (time > last || (time === last && this.#isLarger(row, this.#last))) this.#last = row;
  }

  timeOf(end: End): bigint {
    return this.#times[this.#rowOf(end)]!;
  }

  /** Copies the text: those of the other rows are not kept for it. */
  pointOf(end: End): TextPoint {
    const { codes, texts } = this.#column;
    return { text: copyTextAt(texts, codes[this.#rowOf(end)]!), time: this.timeOf(end) };
  }

  #rowOf(end: End): number {
    return end === 'first' ? this.#first : this.#last;
  }

  #isLarger(row: number, other: number): boolean {
    const { codes, texts } = this.#column;
    return compareTexts(texts, codes[row]!, texts, codes[other]!) > 0;
  }
}

/** Points of equal times are compared again and again. */
function once(read: () => Uint8Array): () => Uint8Array {
  let text: Uint8Array | undefined;
  return () => (text ??= read());
}

const WINDOW_BYTES = 200;
/** A point besides its text, which is not held for a point of a chunk. */
const POINT_BYTES = 200;

function weightOf(point: TextPoint | undefined): number {
  if (point === undefined) return 0;
  return POINT_BYTES + (typeof point.text === 'function' ? 0 : point.text.length);
}

function textOf({ text }: TextPoint): Uint8Array {
  return typeof text === 'function' ? text() : text;
}

function textColumn(windows: readonly TextWindow[], name: AggregateFunction): AggregateColumn {
  const count = windows.length;
  switch (name) {
    case 'count':
      return {
        values: {
          type: 'integer',
          values: BigInt64Array.from(windows, (window) => BigInt(window.count)),
          valid: undefined,
        },
      };
    case 'first':
    case 'last': {
      const points = windows.map((window) => window[name]!);
      const codes = new Uint32Array(count);
      const pointTimes = new BigInt64Array(count);
      for (let i = 0; i < count; i++) {
        codes[i] = i;
        pointTimes[i] = points[i]!.time;
      }
      const texts = joined(points.map(textOf));
      return { values: { type: 'string', codes, texts, valid: undefined }, pointTimes };
    }
    case 'min':
    case 'max':
      return { values: nullColumn('string', count), pointTimes: new BigInt64Array(count) };
    case 'mean':
      return { values: nullColumn('float', count) };
    case 'sum':
    case 'spread':
      return { values: nullColumn('string', count) };
  }
}

/** A text alone is not copied: groups mostly have one window. */
function joined(texts: readonly Uint8Array[]): Texts {
  const [only] = texts;
  if (only !== undefined && texts.length === 1) {
    return { bytes: only, offsets: Uint32Array.of(0, only.length) };
  }
  let sizeBytes = 0;
  for (const { length } of texts) sizeBytes += length;
  const all = new TextBuilder(texts.length, sizeBytes);
  for (const text of texts) all.addBytes(text);
  return all.texts;
}
