import type { SeriesId } from '../columns/series-id.ts';
import type { RequestMemory } from './request-memory.ts';
import type { SeriesGroups } from './series-groups.ts';

/** The group of each selected series. */
export class GroupOfSeries {
  readonly #first: SeriesId;
  /** By series id: number of the group plus one, 0 for a series that is not selected. */
  readonly #groups: Uint16Array;

  constructor(groups: SeriesGroups, memory: RequestMemory) {
    let first = Number.POSITIVE_INFINITY;
    let last = -1;
    for (const id of groups.series) {
      if (id < first) first = id;
      if (id > last) last = id;
    }
    const count = Math.max(0, last - first + 1);
    memory.hold(count * Uint16Array.BYTES_PER_ELEMENT, 'groups of series');
    this.#first = first;
    this.#groups = new Uint16Array(count);
    for (let group = 0; group < groups.length; group++) {
      for (const id of groups.seriesOf(group)) this.#groups[id - first] = group + 1;
    }
  }

  /** -1 for a series that is not selected. */
  of(series: SeriesId): number {
    return (this.#groups[series - this.#first] ?? 0) - 1;
  }
}
