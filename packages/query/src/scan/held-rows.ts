// Rows of a group that wait until all of it is there, to be merged.
import { rowsBytes, tagsBytes, textsBytes } from '@tidemark/core';

import type { ExecutionContext } from '../execution/execution-context.ts';
import { SLICED_SERIES_MAX } from '../limits.ts';
import type { SeriesRows } from '../merge/merge-series.ts';
import type { SelectPlan } from '../plan/select-plan.ts';

/** What of a group is merged at once. */
export type MergeMost = {
  readonly rows: number;
  readonly textBytes: number;
  /** Rows that are read before a group is cut into slices, whether they are kept or not. */
  readonly readAtOnce: number;
  /** Is told which part of the most a group has; more than 1 if it has to be cut. */
  readonly found?: (share: number) => void;
};

/** Rows that wait for their group to be complete; their memory counts as the query's. */
export class HeldRows {
  readonly #execution: ExecutionContext;
  /** The tags that are read. Others, and keys of series, may be long and are dropped. */
  readonly #tagNames: readonly string[];
  #held: SeriesRows[] = [];
  #bytes = 0;
  #lastKey: string | undefined;
  #series: Pick<SeriesRows, 'seriesKey' | 'tags'> = { seriesKey: '', tags: new Map() };
  #seriesCount = 0;
  #textBytes = 0;
  rowCount = 0;

  constructor(execution: ExecutionContext, { inputs }: SelectPlan) {
    this.#execution = execution;
    this.#tagNames = inputs.filter(({ kind }) => kind !== 'field').map(({ name }) => name);
  }

  /** Texts and tags, unless they are of so many series that reading these again costs more. */
  get sliceableTextBytes(): number {
    return this.#seriesCount > SLICED_SERIES_MAX ? 0 : this.#textBytes;
  }

  /** The part that these rows have of the most; none of nothing. */
  shareOf({ rows, textBytes }: MergeMost): number {
    return Math.max(this.rowCount / rows, this.sliceableTextBytes / textBytes);
  }

  /** How many rows like these have texts of this size. */
  rowsWithin(textBytes: number): number {
    const perRow = this.#textBytes / Math.max(1, this.rowCount);
    return Math.max(1, Math.floor(textBytes / Math.max(1, perRow)));
  }

  add({ times, columns, seriesKey, tags }: SeriesRows): void {
    let bytes = rowsBytes(times, columns);
    for (const column of columns) {
      if (column?.type === 'string') this.#textBytes += textsBytes(column.texts);
    }
    if (seriesKey !== this.#lastKey) {
      this.#lastKey = seriesKey;
      // A short name is enough to distinguish it from its neighbours.
      this.#series = { seriesKey: String(this.#held.length), tags: this.#read(tags) };
      const ofTags = tagsBytes(this.#series.tags);
      this.#seriesCount++;
      this.#textBytes += ofTags;
      bytes += ofTags;
    }
    this.#execution.hold(bytes);
    this.#bytes += bytes;
    this.rowCount += times.length;
    this.#held.push({ times, columns, ...this.#series });
  }

  #read(tags: SeriesRows['tags']): SeriesRows['tags'] {
    const read = new Map<string, string>();
    for (const name of this.#tagNames) {
      const value = tags.get(name);
      if (value !== undefined) read.set(name, value);
    }
    return read;
  }

  take(): SeriesRows[] {
    const held = this.#held;
    this.#execution.release(this.#bytes);
    this.#held = [];
    this.#bytes = 0;
    this.#textBytes = 0;
    this.#seriesCount = 0;
    this.#lastKey = undefined;
    this.rowCount = 0;
    return held;
  }
}
