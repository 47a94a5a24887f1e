// What is remembered of the tags of all databases of an engine, and can be made again from the
// columns at any time.
import type { MeasurementIndex } from './measurement-index.ts';
import { PostingsCache } from './postings-cache.ts';
import { RankCache } from './rank-cache.ts';

/** Ranks take a quarter of what postings may take, in addition. */
const RANKS_SHARE = 1 / 4;

export class IndexCache {
  readonly postings: PostingsCache;
  readonly ranks: RankCache;

  /** `seriesMin`: see `PostingsCache`. */
  constructor(limitBytes: number, seriesMin?: number) {
    this.postings = new PostingsCache(limitBytes, seriesMin);
    this.ranks = new RankCache(limitBytes * RANKS_SHARE);
  }

  /** Drops what is known of a measurement that is no longer used. */
  forget(measurement: MeasurementIndex): void {
    this.ranks.forget(measurement);
    for (const { column } of measurement.sortedTagColumns()) {
      this.postings.forget(column);
      this.ranks.forget(column);
    }
  }
}
