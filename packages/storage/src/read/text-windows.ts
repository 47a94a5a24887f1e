// Windows of a string field for each group. Semantics: `AggregateBatch` in the query package.
import type { Column } from '@tidemark/core';
import { AssertionFailed, textBytes } from '@tidemark/core';
import type { AggregateColumn, AggregateFunction } from '@tidemark/query';

import { nullColumn } from '../columns/null-column.ts';
import type { ColumnMeta } from '../segment/format.ts';
import type { ChunkReader } from './chunk-reader.ts';
import type { ColumnWants } from './column-plan.ts';
import { WindowsByGroup } from './windows-by-group.ts';
import type { WindowsTotal } from './windows-by-group.ts';
import { windowOf } from './windows.ts';
import type { FieldResult, FieldWindows, GroupedWindows, WindowsRequest } from './windows.ts';

/** A function where the text is in a chunk of which nothing else has been read. */
type TextPoint = { readonly text: string | (() => string); readonly time: bigint };
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
    const { codes, dictionary, valid } = column;
    for (let row = 0; row < times.length; row++) {
      if (valid?.[row] === 0) continue;
      this.#addPoint({ text: dictionary[codes[row]!] ?? '', time: times[row]! });
    }
  }

  addCached(): never {
    throw new AssertionFailed('texts are not cached');
  }

  addEntry(chunk: ChunkReader, index: number, start: bigint): void {
    const { count } = chunk.columns[index]!;
    const { minTime, maxTime } = chunk.meta;
    // Nearly all of these texts are replaced by those of other chunks before they are read.
    const first = { text: () => chunk.text(index, 'first'), time: minTime };
    const last = { text: () => chunk.text(index, 'last'), time: maxTime };
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

  #addPoint(point: TextPoint): void {
    const { start } = windowOf(point.time, this.#request);
    this.#add(start, { count: 1, first: point, last: point });
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

/** Whether two points have one time, and the text of `a` is the larger. */
function isLarger(a: TextPoint, b: TextPoint): boolean {
  return a.time === b.time && textOf(a) > textOf(b);
}

/**
 * The size counted for a point of a chunk: small, because there are few, and their texts are read
 * at the end.
 */
const CHUNK_POINT_BYTES = 200;

function weightOf({ text }: TextPoint): number {
  return typeof text === 'string' ? textBytes(text) : CHUNK_POINT_BYTES;
}

function textOf({ text }: TextPoint): string {
  return typeof text === 'string' ? text : text();
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
      return {
        values: {
          type: 'string',
          codes: Uint32Array.from(points, (_, i) => i),
          dictionary: points.map(textOf),
          valid: undefined,
        },
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
