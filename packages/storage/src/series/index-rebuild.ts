// A series index made anew without the series that were deleted: their keys, symbols and places in
// columns can not be taken out of an index that is read and written all the time
// (docs/adr/0010-rebuilt-index.md). Series keep their ids.
//
// Copied in portions while the old index goes on; what is new in it meanwhile comes with the next
// portion. The old one is not changed, so who reads from it can finish.
import { assert } from '@tidemark/core';

import { SeriesIndex } from './series-index.ts';
import type { SeriesId } from '../columns/series-id.ts';

/** Half a millisecond to copy, mostly looking symbols up. */
const PORTION_SERIES = 1 << 9;

export class IndexRebuild {
  readonly index: SeriesIndex;
  readonly #from: SeriesIndex;
  /** Series that were forgotten after it began: some were copied before. */
  readonly #forgotten: SeriesId[] = [];
  readonly #endWatch: () => void;

  constructor(from: SeriesIndex) {
    this.index = new SeriesIndex(from.database, from.postings, from.schemaVersions);
    this.#from = from;
    this.#endWatch = from.watchForgotten((id) => this.#forgotten.push(id));
  }

  /** Ids below are those of the old index now. */
  get sourceEnd(): SeriesId {
    return this.#from.seriesEnd;
  }

  /** Copies a portion of the series below `limit`; whether there is more. */
  copySome(limit: SeriesId): boolean {
    const from = this.#from;
    const { index } = this;
    for (let id = index.measurements.length; id < from.measurements.length; id++) {
      const { id: added } = index.addMeasurement(from.measurements[id]!.name);
      assert(added === id, 'measurements keep their ids');
    }
    const first = index.seriesEnd;
    const end = Math.min(limit, first + PORTION_SERIES);
    if (first < end) index.insert(from.encodedSeries(first, end, { leavesForgotten: true }), first);
    return index.seriesEnd < limit;
  }

  /** Copies what is there now; what comes meanwhile is left for the next time. */
  async copy(pause: () => Promise<void>, signal?: AbortSignal): Promise<void> {
    const end = this.#from.seriesEnd;
    while (this.copySome(end) && signal?.aborted !== true) await pause();
  }

  /** Copies the rest and what changes all the time; the old index is read only from now on. */
  finish(): void {
    while (this.copySome(this.sourceEnd));
    this.index.takeLiveness(this.#from);
    this.index.forgetDead(this.#forgotten);
    this.end();
  }

  /** It is not needed any more. */
  end(): void {
    this.#endWatch();
  }
}
