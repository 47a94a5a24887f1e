// Remembers the points that a task has read from the database, so that the same points from the
// stream can be recognised.
import type { Timestamp } from '@tidemark/core';
import { policyText, seriesText } from '@tidemark/runtime';
import type { PointBatch, SeriesRef } from '@tidemark/runtime';
import { REMEMBERED_POINTS } from '../limits.ts';

export class ReadPoints {
  readonly #since: Timestamp;
  #rememberedFrom: Timestamp;
  #readTo: Timestamp;
  /** Ascending times, by dbrp and series. */
  #times = new Map<string, Timestamp[]>();
  #count = 0;

  /**
   * Points before `since` were not read. Times are recorded from `rememberedFrom` on; a later point
   * with a time between the two counts as read.
   */
  constructor(since: Timestamp, rememberedFrom: Timestamp) {
    this.#since = since;
    this.#readTo = since;
    this.#rememberedFrom = rememberedFrom > since ? rememberedFrom : since;
  }

  /** A point was read. Points of a series come in order of time. */
  add(dbrp: string, series: string, time: Timestamp): void {
    if (time < this.#rememberedFrom) return;
    const key = `${dbrp}\u0000${series}`;
    const times = this.#times.get(key);
    if (times === undefined) this.#times.set(key, [time]);
    else times.push(time);
    this.#count++;
  }

  /** Everything before `time` has been read. */
  readTo(time: Timestamp): void {
    this.#readTo = time;
    if (this.#count <= REMEMBERED_POINTS.value) return;
    this.#times = new Map();
    this.#count = 0;
    this.#rememberedFrom = time;
  }

  /**
   * The batch without the rows that were read; itself if there are none, `undefined` if nothing is
   * left.
   */
  without(batch: PointBatch): PointBatch | undefined {
    const keys: (string | undefined)[] = [];
    const kept: number[] = [];
    for (let row = 0; row < batch.rowCount; row++) {
      const index = batch.seriesOfRow[row] as number;
      const time = batch.times[row] as bigint;
      if (time < this.#since) {
        kept.push(row);
        continue;
      }
      const key = (keys[index] ??= keyOf(batch, batch.series.at(index) as SeriesRef));
      if (!this.#has(key, time)) kept.push(row);
    }
    if (kept.length === batch.rowCount) return batch;
    return kept.length === 0 ? undefined : rowsOf(batch, Uint32Array.from(kept));
  }

  #has(key: string, time: Timestamp): boolean {
    if (time < this.#rememberedFrom) return time < this.#readTo;
    const times = this.#times.get(key);
    if (times === undefined) return false;
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((times[middle] as bigint) < time) low = middle + 1;
      else high = middle;
    }
    return times[low] === time;
  }
}

function keyOf({ database, retentionPolicy }: PointBatch, ref: SeriesRef): string {
  const series = seriesText(ref.name, ref.tagKeys, ref.tagValues);
  return `${policyText(database, retentionPolicy)}\u0000${series}`;
}

/** Some rows of a batch; the columns are shared. */
function rowsOf(batch: PointBatch, rows: Uint32Array): PointBatch {
  const { seriesOfRow, times, blockOfRow, rowInBlock } = batch;
  return {
    ...batch,
    rowCount: rows.length,
    seriesOfRow: rows.map((row) => seriesOfRow[row] as number),
    times: BigInt64Array.from(rows, (row) => times[row] as bigint),
    blockOfRow: rows.map((row) => (blockOfRow === undefined ? 0 : (blockOfRow[row] as number))),
    rowInBlock: rows.map((row) => (rowInBlock === undefined ? row : (rowInBlock[row] as number))),
  };
}
