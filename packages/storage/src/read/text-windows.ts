// Windows of a string field for each group. Semantics: `AggregateBatch` in the query package.
import type { Column, StringColumn } from '@tidemark/core';
import { AssertionFailed, compareTexts, TextBuilder, textBytesAt } from '@tidemark/core';
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
type TextWindow = { count: number; first: TextPoint; last: TextPoint };

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
      const found = added.take();
      if (found !== undefined) this.#add(start, found);
    }
  }

  addCached(): never {
    throw new AssertionFailed('texts are not cached');
  }

  addEntry(chunk: ChunkReader, index: number, start: bigint): void {
    const { count } = chunk.columns[index]!;
    const { minTime, maxTime } = chunk.meta;
    // Nearly all of these texts are replaced by those of other chunks before they are read.
    const first = { text: once(() => textBytesAt(chunk.text(index, 'first'), 0)), time: minTime };
    const last = { text: once(() => textBytesAt(chunk.text(index, 'last'), 0)), time: maxTime };
    this.#add(start, { count, first, last });
  }

  // oxlint-disable-next-line require-yield -- windows are sorted by the engine
  *finish(descending: boolean): Generator<undefined, FieldResult> {
    const starts = BigInt64Array.from(this.#windows.keys()).sort();
    if (descending) starts.reverse();
    const windows = Array.from(starts, (start) => this.#windows.get(start)!);
    const columns = this.#functions.map((name) => textColumn(windows, name));
    return { starts, columns, points: [] };
  }

  reset(): void {
    this.#total.windowCount -= this.#windows.size;
    for (const { first, last } of this.#windows.values()) {
      this.#total.heldBytes -= weightOf(first) + weightOf(last);
    }
    this.#windows.clear();
  }

  #add(start: bigint, added: TextWindow): void {
    const held = this.#windows.get(start);
    if (held === undefined) {
      this.#windows.set(start, added);
      this.#total.windowCount++;
      this.#total.heldBytes += weightOf(added.first) + weightOf(added.last);
      return;
    }
    held.count += added.count;
    const { first, last } = added;
    if (first.time < held.first.time || isLarger(first, held.first)) {
      this.#total.heldBytes += weightOf(first) - weightOf(held.first);
      held.first = first;
    }
    if (last.time > held.last.time || isLarger(last, held.last)) {
      this.#total.heldBytes += weightOf(last) - weightOf(held.last);
      held.last = last;
    }
  }
}

/** Finds the first and the last of rows of one window, in any order. */
class RowsOfWindow {
  readonly #times: BigInt64Array;
  readonly #column: StringColumn;
  #count = 0;
  #first = 0;
  #last = 0;

  constructor(times: BigInt64Array, column: StringColumn) {
    this.#times = times;
    this.#column = column;
  }

  add(row: number): void {
    if (this.#column.valid?.[row] === 0) return;
    if (this.#count++ === 0) {
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

  /** `undefined` when no row has a text. */
  take(): TextWindow | undefined {
    if (this.#count === 0) return undefined;
    const first = this.#pointOf(this.#first);
    const last = this.#first === this.#last ? first : this.#pointOf(this.#last);
    return { count: this.#count, first, last };
  }

  #isLarger(row: number, other: number): boolean {
    const { codes, texts } = this.#column;
    return compareTexts(texts, codes[row]!, texts, codes[other]!) > 0;
  }

  /** Copies the text: those of the other rows are not kept for it. */
  #pointOf(row: number): TextPoint {
    const { codes, texts } = this.#column;
    return { text: textBytesAt(texts, codes[row]!).slice(), time: this.#times[row]! };
  }
}

/** Points of equal times are compared again and again. */
function once(read: () => Uint8Array): () => Uint8Array {
  let text: Uint8Array | undefined;
  return () => (text ??= read());
}

/** Whether two points have one time, and the text of `a` is the larger. */
function isLarger(a: TextPoint, b: TextPoint): boolean {
  return a.time === b.time && Buffer.compare(textOf(a), textOf(b)) > 0;
}

/** A point besides its text, which is not held for a point of a chunk. */
const POINT_BYTES = 200;

function weightOf({ text }: TextPoint): number {
  return POINT_BYTES + (typeof text === 'function' ? 0 : text.length);
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
      const points = windows.map((window) => window[name]);
      const read = points.map(textOf);
      const texts = new TextBuilder(count, sizeOf(read));
      const codes = Uint32Array.from(read, (text) => texts.addBytes(text));
      return {
        values: { type: 'string', codes, texts: texts.texts, valid: undefined },
        pointTimes: BigInt64Array.from(points, ({ time }) => time),
      };
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

function sizeOf(texts: readonly Uint8Array[]): number {
  let sizeBytes = 0;
  for (const { length } of texts) sizeBytes += length;
  return sizeBytes;
}
