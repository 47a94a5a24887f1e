// Finds series by the bytes of measurement and tags as clients write them, across writes. Bounded.
// The scanner has the table of the bytes, and also reads the tag values of new series that are
// spelled like the previous one; this module maps its numbers to series.
import { utf8Text } from '@tidemark/core';
import { EXPECTED_KEY_MAX } from '@tidemark/kernels';
import { parseSeries } from '@tidemark/line-protocol';
import type { RowScanner } from '@tidemark/kernels';
import { SeriesPage } from '../data/paged-series.ts';
import type { SeriesShape } from '../data/paged-series.ts';
import { DictionarySeries, SeriesDictionary } from '../data/series-dictionary.ts';
import type { SeriesList } from '../point-batch.ts';
import { textOf } from './text.ts';

/** With more spellings the index starts over. */
const ENTRIES_MAX = 200_000;

const HASH = 35;

/** A parsed key. */
type ParsedKey = SeriesShape & {
  readonly tagValues: readonly string[];
  /** Its tags are sorted. */
  readonly isSorted: boolean;
};

export class SeriesIndex {
  readonly #scanner: RowScanner;
  #dictionary = new SeriesDictionary();
  #lastKeys: readonly string[] = [];
  /** The shape that the scanner expects. */
  #shape: SeriesShape | undefined;
  #page = new SeriesPage();
  /**
   * Number of the first series that is not in the dictionary yet, and index of its first value in
   * the page.
   */
  #sectionStart = 0;
  #sectionValue = 0;

  constructor(scanner: RowScanner) {
    this.#scanner = scanner;
  }

  begin(): void {
    // Left over from a write that was not read to its end.
    this.end();
    if (this.#scanner.seriesCount <= ENTRIES_MAX) return;
    this.#scanner.forgetSeries();
    this.#dictionary = new SeriesDictionary();
    this.#shape = undefined;
    this.#sectionStart = 0;
  }

  /** Adds the series that `body[start, end)` spells; false when its spelling is not plain. */
  add(body: Uint8Array, start: number, end: number): boolean {
    if (this.#scanner.readSeries(start, end)) return true;
    const key = this.#parse(body, start, end);
    if (key === undefined) return false;
    this.#endSection();
    if (key.isSorted && key.tagKeys.length > 0) {
      this.#expect(key);
      if (this.#scanner.readSeries(start, end)) return true;
    }
    this.#scanner.addSeries(start, end);
    this.#sectionStart++;
    const { name, tagKeys, tagValues } = key;
    this.#dictionary.addSeries({ name, tagKeys, tagValues });
    return true;
  }

  /**
   * Index of the series within the present write, which is added when it is new; -1 when its
   * spelling is not plain.
   */
  find(body: Uint8Array, start: number, end: number): number {
    const index = this.#scanner.seriesIndex(start, end);
    if (index >= 0) return index;
    return this.add(body, start, end) ? this.#scanner.seriesIndex(start, end) : -1;
  }

  /** The write has been read, or abandoned: its new series can be used from now on. */
  end(): void {
    this.#endSection();
    const scanner = this.#scanner;
    if (scanner.newValueCount === 0) return;
    // These are ASCII, so that offsets in bytes are offsets in the text.
    this.#page.fill(utf8Text(scanner.newValues), scanner.newValueEnds.slice());
    scanner.takeValues();
    this.#page = new SeriesPage();
    this.#sectionValue = 0;
  }

  /** The series of the present write. */
  take(): SeriesList {
    return new DictionarySeries(this.#dictionary, this.#scanner.writeSeries.slice());
  }

  /** The series that the scanner has read since the last section form one. */
  #endSection(): void {
    const count = this.#scanner.seriesCount - this.#sectionStart;
    const shape = this.#shape;
    if (count === 0 || shape === undefined) return;
    this.#dictionary.addSection({ count, shape, page: this.#page, firstValue: this.#sectionValue });
    this.#sectionStart += count;
    this.#sectionValue += count * shape.tagKeys.length;
  }

  #expect({ name, tagKeys }: SeriesShape): void {
    const encoder = new TextEncoder();
    this.#shape = { name, tagKeys };
    this.#scanner.expectKeys(
      tagKeys.map((key, i) => encoder.encode(`${i === 0 ? name : ''},${key}=`)),
    );
  }

  #parse(body: Uint8Array, start: number, end: number): ParsedKey | undefined {
    if (end - start > EXPECTED_KEY_MAX || body[start] === HASH) return undefined;
    const series = parseSeries(body.subarray(start, end), true);
    if (typeof series === 'string') return undefined;
    const { measurement, tags, key } = series;
    return {
      name: measurement,
      tagKeys: this.#sharedKeys(tags.map(([name]) => name)),
      tagValues: tags.map(([, value]) => value),
      isSorted: textOf(body, start, end) === key,
    };
  }

  /** Most series have the same tag keys: one array for all of them. */
  #sharedKeys(keys: readonly string[]): readonly string[] {
    const last = this.#lastKeys;
    if (last.length === keys.length && keys.every((key, i) => key === last[i])) return last;
    this.#lastKeys = keys;
    return keys;
  }
}
