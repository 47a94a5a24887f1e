// Series of a parser by number: their tag values are in the pages of the writes that introduced
// them. The new series of one write have consecutive numbers, so nothing is stored per series.
import { assert } from '@tidemark/core';
import type { PointBatch, SeriesList, SeriesRef } from '../point-batch.ts';
import type { SeriesPage, SeriesShape } from './paged-series.ts';
import { PagedSeries } from './paged-series.ts';

/** Series with numbers in a row, whose values lie one after another in a page. */
export type DictionarySection = {
  readonly count: number;
  readonly shape: SeriesShape;
  readonly page: SeriesPage;
  /** Index of the first one's first value in the page. */
  readonly firstValue: number;
};

/** A section, or one series that is in no page. */
type Entry = {
  /** Number of the first series, and its stable id. */
  readonly first: number;
  readonly end: number;
  readonly stableId: number;
  readonly section: DictionarySection | undefined;
  readonly ref: SeriesRef | undefined;
};

/** One numbering for all dictionaries of the thread. */
let nextStableId = 1;

/**
 * Grows only; a parser that starts over begins another one, while batches keep the one they were
 * parsed with.
 */
export class SeriesDictionary {
  readonly #entries: Entry[] = [];
  #last: Entry | undefined;
  #names = new Set<string>();

  /** Number of the next series. */
  get count(): number {
    return this.#entries.at(-1)?.end ?? 0;
  }

  addSection(section: DictionarySection): void {
    this.#names.add(section.shape.name);
    this.#add({ count: section.count, section, ref: undefined });
  }

  /** Adds a series with an unusual spelling. */
  addSeries(ref: SeriesRef): void {
    this.#names.add(ref.name);
    const known = { ...ref, stableId: nextStableId };
    this.#add({ count: 1, section: undefined, ref: known });
  }

  #add({ count, section, ref }: Pick<Entry, 'section' | 'ref'> & { readonly count: number }): void {
    const first = this.count;
    this.#entries.push({ first, end: first + count, stableId: nextStableId, section, ref });
    nextStableId += count;
  }

  /** Computed by every call. */
  series(number: number): SeriesRef {
    const { first, stableId, section, ref } = this.#entryOf(number);
    if (section === undefined) return ref as SeriesRef;
    const { shape, page, firstValue } = section;
    const place = { page, first: firstValue + (number - first) * shape.tagKeys.length };
    return new PagedSeries(shape, place, stableId + number - first);
  }

  stableId(number: number): number {
    const { first, stableId } = this.#entryOf(number);
    return stableId + number - first;
  }

  /** Those of many series, which mostly follow one another in a section. */
  stableIds(numbers: Uint32Array): Float64Array {
    const ids = new Float64Array(numbers.length);
    let [first, end, stableId] = [0, 0, 0];
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      if (number < first || number >= end) ({ first, end, stableId } = this.#entryOf(number));
      ids[i] = stableId + number - first;
    }
    return ids;
  }

  /** The section that begins with a series. */
  sectionFrom(number: number): DictionarySection | undefined {
    const { first, section } = this.#entryOf(number);
    return first === number ? section : undefined;
  }

  name(number: number): string {
    const { section, ref } = this.#entryOf(number);
    return section === undefined ? (ref as SeriesRef).name : section.shape.name;
  }

  /** The measurement of all series; `undefined` when there are several. */
  get commonName(): string | undefined {
    const [name] = this.#names;
    return this.#names.size === 1 ? name : undefined;
  }

  #entryOf(number: number): Entry {
    const last = this.#last;
    // Series of one write are requested one after another.
    if (last !== undefined && number >= last.first && number < last.end) return last;
    const entries = this.#entries;
    let low = 0;
    let high = entries.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (number < (entries[middle] as Entry).end) high = middle;
      else low = middle + 1;
    }
    const entry = entries[low];
    assert(entry !== undefined && number < entry.end, 'the series is in the dictionary');
    this.#last = entry;
    return entry;
  }
}

/** The measurements of a batch by its series; one for all of them when they have the same. */
export function measurementsOf({ series }: PointBatch): string | readonly string[] {
  if (series instanceof DictionarySeries) {
    const { commonName } = series;
    if (commonName !== undefined) return commonName;
  }
  const names: string[] = [];
  for (let i = 0; i < series.length; i++) {
    names.push(series instanceof DictionarySeries ? series.nameAt(i) : (series.at(i)?.name ?? ''));
  }
  const [first] = names;
  return first !== undefined && names.every((name) => name === first) ? first : names;
}

/** The series of a write: numbers in a dictionary. */
export class DictionarySeries implements SeriesList {
  readonly #dictionary: SeriesDictionary;
  readonly #numbers: Uint32Array;

  constructor(dictionary: SeriesDictionary, numbers: Uint32Array) {
    this.#dictionary = dictionary;
    this.#numbers = numbers;
  }

  get length(): number {
    return this.#numbers.length;
  }

  at(index: number): SeriesRef | undefined {
    const number = this.#numbers[index];
    return number === undefined ? undefined : this.#dictionary.series(number);
  }

  stableIds(): Float64Array {
    return this.#dictionary.stableIds(this.#numbers);
  }

  stableIdAt(index: number): number {
    return this.#dictionary.stableId(this.#numbers[index] as number);
  }

  /** Whether a series was added right after another. */
  isSuccessor(index: number, of: number): boolean {
    return this.#numbers[index] === (this.#numbers[of] as number) + 1;
  }

  /** The section that begins with a series. */
  sectionFrom(index: number): DictionarySection | undefined {
    return this.#dictionary.sectionFrom(this.#numbers[index] as number);
  }

  nameAt(index: number): string {
    return this.#dictionary.name(this.#numbers[index] as number);
  }

  /** The measurement of all series, if it is known without visiting each. */
  get commonName(): string | undefined {
    return this.#dictionary.commonName;
  }

  *[Symbol.iterator](): IterableIterator<SeriesRef> {
    for (const number of this.#numbers) yield this.#dictionary.series(number);
  }
}
