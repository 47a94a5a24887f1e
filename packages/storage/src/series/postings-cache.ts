// Postings that are in memory, least recently used ones dropped beyond a number of bytes. One for
// all databases of an engine. What does not fit is answered from columns, which always are in
// memory: slower, never wrong.
import { ByteLru } from '@tidemark/core';

import type { TagColumn } from './measurement-index.ts';
import { TagPostings } from './postings.ts';

/** Looking at every series costs less than postings save. */
const SERIES_MIN = 512;
/** Made anew when as many series as this share of those covered came since. */
const GROWTH_SHARE = 1 / 8;
const GROWTH_MIN = 4096;

export class PostingsCache {
  readonly #seriesMin: number;
  readonly #postings: ByteLru<TagColumn, TagPostings>;
  /**
   * Columns whose postings are larger than all there may be, with the number of series at which
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
   * Postings of a column of `count` series, which may cover somewhat less; made when there are
   * none. `undefined` when it is better to look at the column. `symbolCount`: symbols are
   * below.
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
    // More series may bring more values, never fewer.
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

  /** Postings of a column as far as there are some: they may cover fewer series than there are. */
  known(column: TagColumn): TagPostings | undefined {
    return this.#postings.peek(column);
  }

  /** Drops the postings of a column that is no longer used. */
  forget(column: TagColumn): void {
    this.#postings.delete(column);
  }
}
