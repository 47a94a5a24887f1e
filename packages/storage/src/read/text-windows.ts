// Windows of a string field for each group. Semantics: `AggregateBatch` in the query package.
import type { Column } from '@tidemark/core';
import { floorMod } from '@tidemark/core';
import type { AggregateColumn, AggregateFunction, AggregateRequest } from '@tidemark/query';

import { nullColumn } from '../columns/null-column.ts';
import { sliceColumn } from '../columns/run.ts';
import type { ChunkReader } from './chunk-reader.ts';
import type { FieldResult, FieldWindows, GroupedWindows } from './windows.ts';

type TextPoint = { readonly text: string; readonly time: bigint };
type TextWindow = { count: number; first: TextPoint; last: TextPoint };

export class GroupedTexts implements GroupedWindows {
  readonly #request: AggregateRequest;
  readonly #groups = new Map<number, TextWindows>();
  readonly #total = { windowCount: 0 };

  constructor(request: AggregateRequest) {
    this.#request = request;
  }

  get windowCount(): number {
    return this.#total.windowCount;
  }

  add(groups: Uint32Array, times: BigInt64Array, column: Column): void {
    for (let from = 0; from < groups.length;) {
      const group = groups[from]!;
      let to = from + 1;
      while (to < groups.length && groups[to] === group) to++;
      this.of(group).add(times.subarray(from, to), sliceColumn(column, from, to));
      from = to;
    }
  }

  of(group: number): TextWindows {
    let windows = this.#groups.get(group);
    if (windows === undefined) {
      windows = new TextWindows(this.#request, this.#total);
      this.#groups.set(group, windows);
    }
    return windows;
  }

  close(): void {
    this.#groups.clear();
  }
}

/** Strings have `count`, `first` and `last`. Among equal times the larger text wins. */
class TextWindows implements FieldWindows {
  readonly #request: AggregateRequest;
  /** Counts the windows of all groups. */
  readonly #total: { windowCount: number };
  readonly #windows = new Map<bigint, TextWindow>();

  constructor(request: AggregateRequest, total: { windowCount: number }) {
    this.#request = request;
    this.#total = total;
  }

  get windowCount(): number {
    return this.#windows.size;
  }

  add(times: BigInt64Array, column: Column, mask?: Uint8Array): void {
    if (column.type !== 'string') return;
    const { codes, dictionary, valid } = column;
    for (let row = 0; row < times.length; row++) {
      if (valid?.[row] === 0 || mask?.[row] === 0) continue;
      this.#addPoint({ text: dictionary[codes[row]!] ?? '', time: times[row]! });
    }
  }

  addChunk(): boolean {
    return false;
  }

  /** Chunks have no statistics of strings. They suffice only for a chunk that lacks the field. */
  hasStatistics(chunk: ChunkReader, index: number): boolean {
    return chunk.columns[index] === undefined;
  }

  addStatistics(): void {
    // Nothing to add: the chunk lacks the field.
  }

  finish(descending: boolean): FieldResult {
    const starts = BigInt64Array.from(this.#windows.keys()).sort();
    if (descending) starts.reverse();
    const windows = Array.from(starts, (start) => this.#windows.get(start)!);
    return { starts, column: (name) => textColumn(windows, name) };
  }

  reset(): void {
    this.#total.windowCount -= this.#windows.size;
    this.#windows.clear();
  }

  #addPoint(point: TextPoint): void {
    const { window, timeRange } = this.#request;
    const { time, text } = point;
    const start =
      window === undefined
        ? timeRange.start
        : time - floorMod(time - window.offsetNanos, window.everyNanos);
    const held = this.#windows.get(start);
    if (held === undefined) {
      this.#windows.set(start, { count: 1, first: point, last: point });
      this.#total.windowCount++;
      return;
    }
    const { first, last } = held;
    held.count++;
    if (time < first.time || (time === first.time && text > first.text)) held.first = point;
    if (time > last.time || (time === last.time && text > last.text)) held.last = point;
  }
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
          dictionary: points.map(({ text }) => text),
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
