// Finds series by the bytes of measurement and tags as clients write them, from one write to the next. Bounded. The
// table of the bytes is the scanner's; here are the references that its numbers stand for.
import { compareBytes } from '@tidemark/core';
import type { RowScanner } from '@tidemark/kernels';
import type { SeriesRef } from '../point-batch.ts';
import { KeyReader } from './key-reader.ts';
import { textOf } from './text.ts';

/** Beyond this many spellings the index starts over. */
const ENTRIES_MAX = 200_000;
/** Longer keys are checked by the general parser. */
const KEY_BYTES_MAX = 16_384;

/** One numbering for all indexes of the thread. */
let nextStableId = 1;

export class SeriesIndex {
  readonly #scanner: RowScanner;
  readonly #reader = new KeyReader();
  #refs: SeriesRef[] = [];
  #lastKeys: readonly string[] = [];

  constructor(scanner: RowScanner) {
    this.#scanner = scanner;
  }

  begin(): void {
    if (this.#refs.length <= ENTRIES_MAX) return;
    this.#scanner.forgetSeries();
    this.#refs = [];
  }

  /** Adds the series that `body[start, end)` spells; false when its spelling is not plain. */
  add(body: Uint8Array, start: number, end: number): boolean {
    const ref = this.#reader.read(body, start, end, nextStableId) ?? this.#parse(body, start, end);
    if (ref === undefined) return false;
    nextStableId++;
    this.#refs[this.#scanner.addSeries(start, end)] = ref;
    return true;
  }

  /** Index of the series within the present write, which is added when it is new; -1 when its spelling is not plain. */
  find(body: Uint8Array, start: number, end: number): number {
    const index = this.#scanner.seriesIndex(start, end);
    if (index >= 0) return index;
    return this.add(body, start, end) ? this.#scanner.seriesIndex(start, end) : -1;
  }

  /** The write has been read, or given up: series that it brought can be used from now on. */
  end(): void {
    this.#reader.endPage();
  }

  /** The series of the present write. */
  take(): readonly SeriesRef[] {
    const { writeSeries } = this.#scanner;
    const series: SeriesRef[] = [];
    for (let i = 0; i < writeSeries.length; i++) {
      series.push(this.#refs[writeSeries[i] as number] as SeriesRef);
    }
    return series;
  }

  #parse(body: Uint8Array, start: number, end: number): SeriesRef | undefined {
    if (end - start > KEY_BYTES_MAX) return undefined;
    const text = textOf(body, start, end);
    if (text === undefined || text.startsWith('#') || text.includes('\u007f')) return undefined;
    const comma = text.indexOf(',');
    const name = comma < 0 ? text : text.slice(0, comma);
    if (name === '') return undefined;
    let keys: string[] = [];
    let values: string[] = [];
    let isSorted = true;
    for (let at = comma < 0 ? text.length + 1 : comma + 1; at <= text.length;) {
      const next = text.indexOf(',', at);
      const stop = next < 0 ? text.length : next;
      const equals = text.indexOf('=', at);
      if (equals <= at || equals >= stop - 1) return undefined;
      const key = text.slice(at, equals);
      const value = text.slice(equals + 1, stop);
      if (value.includes('=')) return undefined;
      const previous = keys.at(-1);
      if (previous !== undefined) {
        const order = compareBytes(previous, key);
        if (order === 0) return undefined;
        if (order > 0) isSorted = false;
      }
      keys.push(key);
      values.push(value);
      at = stop + 1;
    }
    if (!isSorted) {
      const tags = keys.map((key, i) => [key, values[i] ?? ''] as const);
      tags.sort(([x], [y]) => compareBytes(x, y));
      keys = tags.map(([key]) => key);
      values = tags.map(([, value]) => value);
      if (keys.some((key, i) => key === keys[i - 1])) return undefined;
    }
    const tagKeys = this.#sharedKeys(keys);
    if (isSorted) this.#reader.expect({ name, tagKeys });
    return { name, tagKeys, tagValues: values, stableId: nextStableId };
  }

  /** Most series have the same tag keys: one array for all of them. */
  #sharedKeys(keys: readonly string[]): readonly string[] {
    const last = this.#lastKeys;
    if (last.length === keys.length && keys.every((key, i) => key === last[i])) return last;
    this.#lastKeys = keys;
    return keys;
  }
}
