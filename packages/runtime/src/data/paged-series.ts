// Series as the write path finds them: the tag values of many series are in one text, and are
// extracted on demand. Most tags of most series are never read.
import { assert } from '@tidemark/core';
import type { SeriesRef } from '../point-batch.ts';

/** The common part of series: the measurement and the sorted tag keys. */
export type SeriesShape = { readonly name: string; readonly tagKeys: readonly string[] };

/** The tag values of the series of one write. Filled once, before it is read. */
export class SeriesPage {
  #text = '';
  #ends: Uint32Array = NO_ENDS;

  /** `ends[i]` is where the i-th value ends in `text`; it begins where the previous one ends. */
  static of(text: string, ends: Uint32Array): SeriesPage {
    const page = new SeriesPage();
    page.fill(text, ends);
    return page;
  }

  fill(text: string, ends: Uint32Array): void {
    assert(this.#ends === NO_ENDS, 'a page is filled once');
    this.#text = text;
    this.#ends = ends;
  }

  get text(): string {
    return this.#text;
  }

  get ends(): Uint32Array {
    return this.#ends;
  }

  /** Values `from` up to `to`, one after another. */
  values(from: number, to: number): string {
    if (from === to) return '';
    return this.#text.slice(this.start(from), this.#ends[to - 1]);
  }

  start(value: number): number {
    return value === 0 ? 0 : (this.#ends[value - 1] as number);
  }
}

const NO_ENDS = new Uint32Array(0);

/** A series whose tag values lie in a page. */
export class PagedSeries implements SeriesRef {
  readonly shape: SeriesShape;
  readonly page: SeriesPage;
  /** Index of its first value in the page. */
  readonly first: number;
  readonly stableId: number | undefined;

  constructor(
    shape: SeriesShape,
    place: { readonly page: SeriesPage; readonly first: number },
    stableId: number | undefined,
  ) {
    this.shape = shape;
    this.page = place.page;
    this.first = place.first;
    this.stableId = stableId;
  }

  get name(): string {
    return this.shape.name;
  }

  get tagKeys(): readonly string[] {
    return this.shape.tagKeys;
  }

  /** Computed by every call. */
  get tagValues(): readonly string[] {
    return this.shape.tagKeys.map((_, i) => this.tagValue(i));
  }

  tagValue(index: number): string {
    const { page, first } = this;
    return page.values(first + index, first + index + 1);
  }
}
