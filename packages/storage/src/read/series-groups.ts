// The selected series of a request by group: one array with the series of all groups, because there
// may be as many groups as series.
import type { SeriesId } from '../columns/series-id.ts';
import { partOf } from '../series/ordinal-set.ts';

export type SeriesGroup = {
  /** Among the groups. */
  readonly number: number;
  /**
   * Values of the grouping tags; empty where a series lacks the tag. Read from the index each time,
   * because the texts of all groups together may be large.
   */
  readonly tags: () => ReadonlyMap<string, string>;
  /**
   * In the order of their keys, unless `unorderedFrom` of the request allows any order, or
   * `isByTies`.
   */
  readonly series: Uint32Array;
  /** In the order of the tags in `tieTags` of the request, which all of them have. */
  readonly isByTies: boolean;
};

export type GroupsOptions = {
  /** The series of all groups, one group after the other. */
  readonly series: Uint32Array;
  /** By group: position behind its last series. */
  readonly ends: Uint32Array;
  /** Tags of the group of a series. */
  readonly tagsOf: (series: SeriesId) => ReadonlyMap<string, string>;
  /** Groups whose series are in the order of their ties. */
  readonly byTies?: ReadonlySet<number>;
};

export class SeriesGroups implements Iterable<SeriesGroup> {
  readonly #of: GroupsOptions;

  constructor(of: GroupsOptions) {
    this.#of = of;
  }

  /** A group for each series. */
  static ofEach(series: Uint32Array, tagsOf: GroupsOptions['tagsOf']): SeriesGroups {
    return new SeriesGroups({ series, ends: series.map((_, i) => i + 1), tagsOf });
  }

  /** Some groups, with new numbers; without their tags. */
  static of(groups: readonly SeriesGroup[]): SeriesGroups {
    let end = 0;
    const ends = Uint32Array.from(groups, (group) => (end += group.series.length));
    const series = new Uint32Array(end);
    for (const [i, group] of groups.entries()) series.set(group.series, ends[i - 1] ?? 0);
    return new SeriesGroups({ series, ends, tagsOf: () => NO_TAGS });
  }

  get length(): number {
    return this.#of.ends.length;
  }

  /** The series of all groups. */
  get series(): Uint32Array {
    return this.#of.series;
  }

  seriesOf(group: number): Uint32Array {
    const { series, ends } = this.#of;
    return partOf(series, ends[group - 1] ?? 0, ends[group]!);
  }

  /** The tags of a group (`SeriesGroup`). */
  tagsOf(group: number): ReadonlyMap<string, string> {
    return this.#of.tagsOf(this.seriesOf(group)[0]!);
  }

  /** By group: position behind its last series. */
  get ends(): Uint32Array {
    return this.#of.ends;
  }

  *[Symbol.iterator](): Iterator<SeriesGroup> {
    const { tagsOf, byTies } = this.#of;
    for (let number = 0; number < this.length; number++) {
      const series = this.seriesOf(number);
      const isByTies = byTies?.has(number) === true;
      yield { number, tags: () => tagsOf(series[0]!), series, isByTies };
    }
  }

  /** The groups from the last to the first one, and the series of each as well. */
  reversed(): SeriesGroups {
    const { series, ends, tagsOf, byTies = [] } = this.#of;
    const { length } = ends;
    return new SeriesGroups({
      series: series.toReversed(),
      ends: ends.map((_, group) => series.length - (ends[length - 2 - group] ?? 0)),
      tagsOf,
      byTies: new Set([...byTies].map((group) => length - 1 - group)),
    });
  }
}

const NO_TAGS: ReadonlyMap<string, string> = new Map();
