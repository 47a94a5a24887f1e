// Groups: interned per task, with a dense index for the per-group state arrays of nodes.
import { assert, hashSeed, hashText } from '@tidemark/core';
import { HashIndex } from './hash-index.ts';
import type { SeriesTable } from './series.ts';
import { Series } from './series.ts';

/** How points are grouped: by tags, and by measurement too. */
export type GroupDimensions = {
  readonly isByName: boolean;
  /** Sorted, without duplicates. */
  readonly tagNames: readonly string[];
  /** The names as used in ids, when a script has a tag twice. */
  readonly idNames?: readonly string[] | undefined;
};

export const NO_DIMENSIONS: GroupDimensions = { isByName: false, tagNames: [] };

/** A group of points. */
export class Group {
  /** Dense within the task; reused after the group was released. */
  readonly index: number;
  readonly dimensions: GroupDimensions;
  /** Number of nodes that hold state of the group. */
  holderCount = 0;
  isReleased = false;
  /** Sweep during which a point of the group was last seen. */
  sweep = 0;
  #id: string | undefined;
  /** Its tags: those of a series, or their values. */
  #tags: Series | readonly string[];
  #lastSeries: Series | undefined;
  readonly #table: SeriesTable;

  constructor(
    id: string | undefined,
    index: number,
    init: {
      readonly dimensions: GroupDimensions;
      readonly tags: Series | readonly string[];
      readonly table: SeriesTable;
    },
  ) {
    this.#id = id;
    this.index = index;
    this.dimensions = init.dimensions;
    this.#tags = init.tags;
    this.#table = init.table;
    assert(id !== undefined || init.tags instanceof Series, 'a group has an id or can make one');
  }

  /** The recorded text form; '' for the single group of ungrouped data. Computed on demand. */
  get id(): string {
    return (this.#id ??= groupId(this.#tags as Series, this.dimensions));
  }

  /** The single group of ungrouped data. */
  get isWhole(): boolean {
    return isWhole(this.dimensions);
  }

  /** Values in the order of `dimensions.tagNames`. Computed on demand. */
  get values(): readonly string[] {
    const tags = this.#tags;
    if (!(tags instanceof Series)) return tags;
    this.#id ??= groupId(tags, this.dimensions);
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

  /** Whether a series belongs to the group; `undefined` when only the ids can tell. */
  holds(series: Series, dimensions: GroupDimensions): boolean | undefined {
    const tags = this.#tags;
    if (dimensions !== this.dimensions || !(tags instanceof Series)) return undefined;
    if (dimensions.isByName && tags.name !== series.name) return undefined;
    for (const name of dimensions.tagNames) {
      if (!series.hasSameTag(name, tags)) return undefined;
    }
    return true;
  }

  /** The group as templates print it. */
  get text(): string {
    return this.id === '' ? 'nil' : this.id;
  }
}

/** The groups of a task. */
export class GroupTable {
  readonly #seed = hashSeed();
  /** By the hash of their ids, which most groups never need. */
  readonly #index = new HashIndex();
  readonly #groups: (Group | undefined)[] = [];
  readonly #freeIndexes: number[] = [];
  readonly #series: SeriesTable;
  readonly #countMax: number;
  #prefixName: string | undefined;
  #prefixHash = 0;

  constructor(series: SeriesTable, countMax: number) {
    this.#series = series;
    this.#countMax = countMax;
  }

  get count(): number {
    return this.#index.count;
  }

  /** A copy, because groups may be released during the iteration. */
  list(): Group[] {
    return this.#groups.filter((group) => group !== undefined);
  }

  /** The group with an index, which has not been released. */
  at(index: number): Group {
    const group = this.#groups[index];
    assert(group !== undefined, 'the group has not been released');
    return group;
  }

  /** The group of a series under dimensions; `undefined` when the task has too many groups. */
  of(series: Series, dimensions: GroupDimensions): Group | undefined {
    const hash = this.#hashOf(series, dimensions);
    let id: string | undefined;
    for (let place = this.#index.find(hash); place >= 0;) {
      const group = this.at(this.#index.at(place));
      if (group.holds(series, dimensions) === true) return group;
      id ??= groupId(series, dimensions);
      if (group.id === id) return group;
      place = this.#index.find(hash, place + 1);
    }
    return this.#open(hash, { id, dimensions, tags: series });
  }

  /** Hash of `groupId`, without building it. */
  #hashOf(series: Series, dimensions: GroupDimensions): number {
    const { isByName, tagNames, idNames } = dimensions;
    const [name] = tagNames;
    if (isByName || name === undefined || tagNames.length > 1 || idNames !== undefined) {
      return hashOfId(this.#seed, series, dimensions);
    }
    // Groups by one tag are common, and created by the thousand: the prefix of their ids is hashed
    // once.
    if (name !== this.#prefixName) {
      this.#prefixName = name;
      this.#prefixHash = hashText(hashText(this.#seed, name), '=');
    }
    return series.hashTag(this.#prefixHash, name);
  }

  /** A group by its parts, for restored state and results of queries. */
  named(id: string, dimensions: GroupDimensions, values: readonly string[]): Group | undefined {
    return this.get(id) ?? this.#open(hashText(this.#seed, id), { id, dimensions, tags: values });
  }

  get(id: string): Group | undefined {
    const hash = hashText(this.#seed, id);
    for (let place = this.#index.find(hash); place >= 0;) {
      const group = this.at(this.#index.at(place));
      if (group.id === id) return group;
      place = this.#index.find(hash, place + 1);
    }
    return undefined;
  }

  /** Drops a group without state in any node. A later point opens it again. */
  release(group: Group): void {
    if (group.isReleased || group.holderCount > 0 || group.isWhole) return;
    group.isReleased = true;
    this.#index.delete(hashText(this.#seed, group.id), group.index);
    this.#groups[group.index] = undefined;
    this.#freeIndexes.push(group.index);
  }

  #open(
    hash: number,
    init: {
      readonly id: string | undefined;
      readonly dimensions: GroupDimensions;
      readonly tags: Series | readonly string[];
    },
  ): Group | undefined {
    if (this.#index.count >= this.#countMax) return undefined;
    const index = this.#freeIndexes.pop() ?? this.#groups.length;
    const { id, dimensions, tags } = init;
    const group = new Group(id, index, { dimensions, tags, table: this.#series });
    if (index === this.#groups.length) this.#groups.push(group);
    else this.#groups[index] = group;
    this.#index.add(hash, index);
    return group;
  }
}

function isWhole({ isByName, tagNames }: GroupDimensions): boolean {
  return !isByName && tagNames.length === 0;
}

function groupId(series: Series, dimensions: GroupDimensions): string {
  const names = dimensions.idNames ?? dimensions.tagNames;
  let id = dimensions.isByName ? series.name : '';
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    if (i > 0) id += ',';
    else if (dimensions.isByName) id += '\n';
    id += `${name}=${series.tagOnce(name) ?? ''}`;
  }
  return id;
}

/** Hash of `groupId`, without building it. */
function hashOfId(seed: number, series: Series, dimensions: GroupDimensions): number {
  const names = dimensions.idNames ?? dimensions.tagNames;
  let hash = dimensions.isByName ? hashText(seed, series.name) : seed;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    if (i > 0) hash = hashText(hash, ',');
    else if (dimensions.isByName) hash = hashText(hash, '\n');
    hash = series.hashTag(hashText(hashText(hash, name), '='), name);
  }
  return hash;
}
