// For each series id: its measurement, its ordinal there, and the number of shards in which it has
// rows. Stored in pages, because ids are never reused: a page without series takes no memory.
import type { SeriesId } from '../columns/series-id.ts';

const PAGE_BITS = 12;
const PAGE_LENGTH = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_LENGTH - 1;
const SERIES_BYTES = 10;
/** Places of a page at first: very many databases have few series. */
const LEAST_LENGTH = 64;

type Page = {
  readonly measurements: Uint32Array;
  readonly ordinals: Uint32Array;
  readonly shardCounts: Uint16Array;
};

export class SeriesRefs {
  readonly #pages: (Page | undefined)[] = [];
  /** Of all pages. */
  #places = 0;

  get memoryBytes(): number {
    return this.#places * SERIES_BYTES;
  }

  set(id: SeriesId, ref: { readonly measurementId: number; readonly ordinal: number }): void {
    const page = this.#pageFor(id);
    page.measurements[id & PAGE_MASK] = ref.measurementId;
    page.ordinals[id & PAGE_MASK] = ref.ordinal;
  }

  /** For a series that was set, like the methods below. */
  measurementId(id: SeriesId): number {
    return this.#pages[id >>> PAGE_BITS]!.measurements[id & PAGE_MASK]!;
  }

  ordinal(id: SeriesId): number {
    return this.#pages[id >>> PAGE_BITS]!.ordinals[id & PAGE_MASK]!;
  }

  /** Number of shards in which the series has rows; 0 for ids without series. */
  shardCount(id: SeriesId): number {
    return this.#pages[id >>> PAGE_BITS]?.shardCounts[id & PAGE_MASK] ?? 0;
  }

  /** Changes the number of shards, and returns it. */
  addShards(id: SeriesId, change: 1 | -1): number {
    const { shardCounts } = this.#pages[id >>> PAGE_BITS]!;
    return (shardCounts[id & PAGE_MASK]! += change);
  }

  /** Copies the numbers of shards from another object, for the series that are in this one. */
  copyShardCounts(other: SeriesRefs): void {
    this.#pages.forEach((page, number) => {
      const from = other.#pages[number];
      if (page === undefined || from === undefined) return;
      page.shardCounts.set(from.shardCounts.subarray(0, page.shardCounts.length));
    });
  }

  /** The page of an id, with a place for it. */
  #pageFor(id: SeriesId): Page {
    const number = id >>> PAGE_BITS;
    const known = this.#pages[number];
    const present = known?.measurements.length ?? 0;
    if (known !== undefined && (id & PAGE_MASK) < present) return known;
    while (this.#pages.length < number) this.#pages.push(undefined);
    const wanted = Math.max(LEAST_LENGTH, 2 * present, (id & PAGE_MASK) + 1);
    const length = Math.min(PAGE_LENGTH, wanted);
    const page = {
      measurements: new Uint32Array(length),
      ordinals: new Uint32Array(length),
      shardCounts: new Uint16Array(length),
    };
    if (known !== undefined) {
      page.measurements.set(known.measurements);
      page.ordinals.set(known.ordinals);
      page.shardCounts.set(known.shardCounts);
    }
    this.#pages[number] = page;
    this.#places += length - present;
    return page;
  }
}
