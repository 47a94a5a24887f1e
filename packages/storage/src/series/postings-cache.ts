// A cache of postings, bounded in bytes, least recently used ones evicted. All databases of an
// engine share it. Without postings, conditions are answered from the columns, which are always in
// memory: that is only slower.
import { ByteLru } from '@tidemark/core';

import type { TagColumn } from './measurement-index.ts';
import { TagPostings } from './postings.ts';

/** Below this number of series, looking at each costs less than building postings. */
const SERIES_MIN = 512;
/** Postings are built again when the series have grown by this share since. */
const GROWTH_SHARE = 1 / 8;
const GROWTH_MIN = 4096;

export class PostingsCache {
  readonly #seriesMin: number;
  readonly #postings: ByteLru<TagColumn, TagPostings>;
  /**
   * Columns whose postings do not fit into the cache at all, with the number of series at which
   * that was found.
   */
  readonly #tooLarge = new WeakMap<TagColumn, number>();

  /** `seriesMin`: measurements with fewer series have no postings. */
  constructor(limitBytes: number, seriesMin = SERIES_MIN) {
    this.#postings = new ByteLru(limitBytes);
    this.#seriesMin = seriesMin;
  }

  get limitBytes(): number {
    return this.#postings.weightMax;
  }

  get memoryBytes(): number {
    return this.#postings.weight;
  }

  /** Number of tag keys that have postings now. */
  get count(): number {
    return this.#postings.count;
  }

  /**
   * Postings of a column of `count` series, built when there are none; they may cover somewhat
   * fewer series. `undefined` when reading the column is better. Symbols are below `symbolCount`.
   */
  *of(
    column: TagColumn,
    { count, symbolCount }: { readonly count: number; readonly symbolCount: number },
  ): Generator<undefined, TagPostings | undefined> {
    if (count < this.#seriesMin) return undefined;
    const known = this.#postings.get(column);
    if (
      known !== undefined &&
      count - known.end <= Math.max(GROWTH_MIN, known.end * GROWTH_SHARE)
    ) {
      return known;
    }
    // They did not fit with fewer series already.
    if ((this.#tooLarge.get(column) ?? Number.POSITIVE_INFINITY) <= count) return undefined;
    const { limitBytes } = this;
    const options = { end: count, valueMax: symbolCount, bytesMax: limitBytes };
    const made = yield* TagPostings.build(column.values, options);
    if (made === undefined) {
      this.forget(column);
      this.#tooLarge.set(column, count);
      return undefined;
    }
    this.#postings.set(column, made, made.memoryBytes);
    return made;
  }

  /** The cached postings of a column, which may cover fewer series than there are. */
  known(column: TagColumn): TagPostings | undefined {
    return this.#postings.peek(column);
  }

  /** Drops the postings of a column that is no longer used. */
  forget(column: TagColumn): void {
    this.#postings.delete(column);
  }
}
