// Groups: interned per task, with a dense index for the per-group state arrays of nodes.
import type { SeriesTable } from './series.ts';
import { Series } from './series.ts';

/** How points are grouped: by tags, and by measurement too. */
export type GroupDimensions = {
  readonly isByName: boolean;
  /** Sorted, without duplicates. */
  readonly tagNames: readonly string[];
  /** The names as ids spell them, when a script named a tag twice. */
  readonly idNames?: readonly string[] | undefined;
};

export const NO_DIMENSIONS: GroupDimensions = { isByName: false, tagNames: [] };

/** A group of points. `id` is the recorded text form; '' for the single group of ungrouped data. */
export class Group {
  readonly id: string;
  /** Dense within the task; reused after the group was released. */
  readonly index: number;
  readonly dimensions: GroupDimensions;
  /** Number of nodes that hold state of the group. */
  holderCount = 0;
  isReleased = false;
  /** Sweep during which a point of the group was last seen. */
  sweep = 0;
  /** Its tags: those of a series, or their values. */
  #tags: Series | readonly string[];
  #lastSeries: Series | undefined;
  readonly #table: SeriesTable;

  constructor(
    id: string,
    index: number,
    init: {
      readonly dimensions: GroupDimensions;
      readonly tags: Series | readonly string[];
      readonly table: SeriesTable;
    },
  ) {
    this.id = id;
    this.index = index;
    this.dimensions = init.dimensions;
    this.#tags = init.tags;
    this.#table = init.table;
  }

  /** Values in the order of `dimensions.tagNames`. Made when first asked for. */
  get values(): readonly string[] {
    const tags = this.#tags;
    if (!(tags instanceof Series)) return tags;
    const values = this.dimensions.tagNames.map((name) => tags.tagOnce(name) ?? '');
    this.#tags = values;
    return values;
  }

  /** A series of this name whose tags are the group's. */
  series(name: string): Series {
    const last = this.#lastSeries;
    if (last !== undefined && last.name === name) return last;
    const series = this.#table.intern({
      name,
      tagKeys: this.dimensions.tagNames,
      tagValues: this.values,
    });
    this.#lastSeries = series;
    return series;
  }

  get tags(): Readonly<Record<string, string>> {
    return this.series(this.#lastSeries?.name ?? '').tags;
  }

  /** As templates print it. */
  get text(): string {
    return this.id === '' ? 'nil' : this.id;
  }
}

/** The groups of a task. */
export class GroupTable {
  readonly #byId = new Map<string, Group>();
  readonly #freeIndexes: number[] = [];
  #nextIndex = 0;
  readonly #series: SeriesTable;
  readonly #countMax: number;

  constructor(series: SeriesTable, countMax: number) {
    this.#series = series;
    this.#countMax = countMax;
  }

  get count(): number {
    return this.#byId.size;
  }

  /** A copy: groups may be released while it is walked. */
  list(): Group[] {
    return [...this.#byId.values()];
  }

  /** The group of a series under dimensions; `undefined` when the task has too many groups. */
  of(series: Series, dimensions: GroupDimensions): Group | undefined {
    const names = dimensions.idNames ?? dimensions.tagNames;
    let id = dimensions.isByName ? series.name : '';
    for (let i = 0; i < names.length; i++) {
      const name = names[i] ?? '';
      if (i > 0) id += ',';
      else if (dimensions.isByName) id += '\n';
      id += `${name}=${series.tagOnce(name) ?? ''}`;
    }
    return this.#intern(id, dimensions, series);
  }

  /** A group by its parts, for restored state and results of queries. */
  named(id: string, dimensions: GroupDimensions, values: readonly string[]): Group | undefined {
    return this.#intern(id, dimensions, values);
  }

  get(id: string): Group | undefined {
    return this.#byId.get(id);
  }

  /** Forgets a group that no node holds state of. A later point opens it anew. */
  release(group: Group): void {
    if (group.isReleased || group.holderCount > 0 || group.id === '') return;
    group.isReleased = true;
    this.#byId.delete(group.id);
    this.#freeIndexes.push(group.index);
  }

  #intern(
    id: string,
    dimensions: GroupDimensions,
    tags: Series | readonly string[],
  ): Group | undefined {
    let group = this.#byId.get(id);
    if (group === undefined) {
      if (this.#byId.size >= this.#countMax) return undefined;
      const index = this.#freeIndexes.pop() ?? this.#nextIndex++;
      group = new Group(id, index, { dimensions, tags, table: this.#series });
      this.#byId.set(id, group);
    }
    return group;
  }
}
