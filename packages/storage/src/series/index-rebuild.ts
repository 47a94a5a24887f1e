// Rebuilds a series index without its deleted series: their keys, symbols and column entries cannot
// be removed from an index that is in use (docs/adr/0010-rebuilt-index.md). Series keep their ids.
// The copy is made in portions while the old index is used and grows; later portions copy what is
// new. The old index is not changed, so requests that read from it can finish.
import { assert } from '@tidemark/core';

import { SeriesIndex } from './series-index.ts';
import type { SeriesId } from '../columns/series-id.ts';

/** Series per portion: half a millisecond, most of it for looking symbols up. */
const PORTION_SERIES = 1 << 9;

export class IndexRebuild {
  readonly index: SeriesIndex;
  readonly #from: SeriesIndex;
  /** Series that were deleted after the rebuild began; some were copied before. */
  readonly #deleted: SeriesId[] = [];
  readonly #endWatch: () => void;

  constructor(from: SeriesIndex) {
    this.index = new SeriesIndex(from.database, from.cache, from.schemaVersions);
    this.#from = from;
    this.#endWatch = from.watchDeleted((id) => this.#deleted.push(id));
  }

  /** One more than the largest id in the old index now. */
  get sourceEnd(): SeriesId {
    return this.#from.seriesEnd;
  }

  /**
   * Copies a portion of the series below `limit`. Returns whether there are more. Deleted series
   * are left out, except after the log has begun the file with which the new index is put into use:
   * records in it may still name series that are deleted later.
   */
  copySome(limit: SeriesId, { leavesDeleted = true } = {}): boolean {
    const from = this.#from;
    const { index } = this;
    for (let id = index.measurements.length; id < from.measurements.length; id++) {
      const { id: added } = index.addMeasurement(from.measurements[id]!.name);
      assert(added === id, 'measurements keep their ids');
    }
    const first = index.seriesEnd;
    const end = Math.min(limit, first + PORTION_SERIES);
    if (first < end) index.insert(from.encodedSeries(first, end, { leavesDeleted }), first);
    return index.seriesEnd < limit;
  }

  /** Copies the series that exist now. New ones are left for the next call. */
  async copy(
    pause: () => Promise<void>,
    options: {
      readonly leavesDeleted: boolean;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<void> {
    const end = this.#from.seriesEnd;
    while (this.copySome(end, options) && options.signal?.aborted !== true) await pause();
  }

  /** Copies the rest, and which series are live. The old index must not change from now on. */
  finish(): void {
    while (this.copySome(this.sourceEnd));
    this.index.takeLiveness(this.#from);
    this.index.deleteEmpty(this.#deleted);
    this.end();
  }

  /** Stops following the old index. */
  end(): void {
    this.#endWatch();
  }
}
