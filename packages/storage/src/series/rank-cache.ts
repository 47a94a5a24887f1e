// A cache of the order of series by a tag or by their keys, bounded in bytes, least recently used
// ones evicted. All databases of an engine share it. Without it, series are sorted again.
import { ByteLru } from '@tidemark/core';

import type { MeasurementIndex, TagColumn } from './measurement-index.ts';

/** Where series stand in an order. */
export type Ranks = {
  readonly ranks: Uint32Array;
  /** Ranks are below it. */
  readonly count: number;
};

/** What series are ordered by: the values of a tag, or, for a measurement, their keys. */
export type RankedBy = TagColumn | MeasurementIndex;

/** Memory of an entry besides its ranks, roughly. */
const ENTRY_BYTES = 250;

export class RankCache {
  readonly #ranks: ByteLru<RankedBy, Ranks>;

  constructor(limitBytes: number) {
    this.#ranks = new ByteLru(limitBytes);
  }

  get memoryBytes(): number {
    return this.#ranks.weight;
  }

  /** Whether ranks of so many series fit. */
  holds(series: number): boolean {
    return ENTRY_BYTES + series * Uint32Array.BYTES_PER_ELEMENT <= this.#ranks.weightMax;
  }

  /** Ranks by ordinal, if they are known of `count` series. */
  of(by: RankedBy, count: number): Ranks | undefined {
    const known = this.#ranks.get(by);
    return known !== undefined && known.ranks.length >= count ? known : undefined;
  }

  /** `ranks` are by ordinal, of all series of a measurement. */
  set(by: RankedBy, ranks: Ranks): void {
    this.#ranks.set(by, ranks, ENTRY_BYTES + ranks.ranks.byteLength);
  }

  /** Drops ranks that are no longer used. */
  forget(by: RankedBy): void {
    this.#ranks.delete(by);
  }
}
