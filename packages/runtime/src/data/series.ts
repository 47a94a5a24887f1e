// Series inside the runtime: measurement and tags of points, interned so that nodes compare and
// cache by identity.
import { hashText } from '@tidemark/core';
import type { SeriesRef } from '../point-batch.ts';
import { PagedSeries } from './paged-series.ts';
import type { SeriesPage } from './paged-series.ts';

/** A set of tag keys, sorted; interned: equal sets are one object. */
export class TagKeys {
  readonly names: readonly string[];
  readonly indexOf: ReadonlyMap<string, number>;

  constructor(names: readonly string[]) {
    this.names = names;
    this.indexOf = new Map(names.map((name, i) => [name, i]));
  }
}

/**
 * Measurement and tags of a point, interned per table. No two series of a table have the same `id`;
 * those of an epoch are dense from its `firstId` on, for caches that are arrays. One object per
 * series, because there are very many.
 */
export class Series implements SeriesRef {
  readonly id: number;
  readonly name: string;
  readonly keys: TagKeys;
  readonly #page: SeriesPage | undefined;
  readonly #first: number;
  #values: readonly string[] | undefined;
  #record: Readonly<Record<string, string>> | undefined;

  /** Its tags are in a page, or are given. */
  constructor(
    id: number,
    name: string,
    keys: TagKeys,
    page: SeriesPage | undefined,
    first: number,
    values: readonly string[] | undefined,
  ) {
    this.id = id;
    this.name = name;
    this.keys = keys;
    this.#page = page;
    this.#first = first;
    this.#values = values;
  }

  /** In the order of `keys.names`. Computed on demand. */
  get values(): readonly string[] {
    return (this.#values ??= this.keys.names.map((_, i) => this.#value(i)));
  }

  get tagKeys(): readonly string[] {
    return this.keys.names;
  }

  get tagValues(): readonly string[] {
    return this.values;
  }

  /** The same series under another id. */
  withId(id: number): Series {
    return new Series(id, this.name, this.keys, this.#page, this.#first, this.#values);
  }

  #value(index: number): string {
    const page = this.#page;
    if (page === undefined || this.#values !== undefined) return this.#values?.[index] ?? '';
    return page.values(this.#first + index, this.#first + index + 1);
  }

  tag(key: string): string | undefined {
    const i = this.keys.indexOf.get(key);
    return i === undefined ? undefined : this.values[i];
  }

  /** As `tag`, for a single use: parses no other tags and caches nothing. */
  tagOnce(key: string): string | undefined {
    const i = this.keys.indexOf.get(key);
    return i === undefined ? undefined : this.#value(i);
  }

  /** Continues a hash with the value of a tag, '' if there is none, without parsing the tags. */
  hashTag(hash: number, key: string): number {
    const i = this.keys.indexOf.get(key);
    if (i === undefined) return hash;
    const page = this.#page;
    if (page === undefined) return hashText(hash, this.#value(i));
    const value = this.#first + i;
    return hashText(hash, page.text, page.start(value), page.ends[value]);
  }

  /** Whether another series has the same value of a tag. */
  hasSameTag(key: string, other: Series): boolean {
    return (this.tagOnce(key) ?? '') === (other.tagOnce(key) ?? '');
  }

  /** Tags as an object, created once. Never change it. */
  get tags(): Readonly<Record<string, string>> {
    this.#record ??= Object.fromEntries(this.keys.names.map((k, i) => [k, this.values[i] ?? '']));
    return this.#record;
  }

  tagMap(): ReadonlyMap<string, string> {
    return new Map(this.keys.names.map((k, i) => [k, this.values[i] ?? '']));
  }
}

/**
 * One series costs about 80 bytes, twice as much more when its tags were read, and its key when it
 * has no stable id.
 */
const FIRST_COUNT_MAX = 131_072;
const COUNT_MAX = 1_048_576;
/** Ids in a row that the table of stable ids may leave empty: 8 bytes each. */
const STABLE_GAP_MAX = 65_536;

/**
 * Interns series. Bounded: when it is full it starts over with a new `epoch`; holders of caches by
 * id compare its `firstId` and drop them. Series objects that are still held stay valid; their ids
 * are below `firstId`, including those of a write that began before the epoch and is still
 * processed.
 */
export class SeriesTable {
  #byKey = new Map<string, Series>();
  /**
   * Series of the write path, found without building a key: by stable id less that of the epoch's
   * first one.
   */
  #byStableId: (Series | undefined)[] = [];
  #firstStableId = -1;
  #keysByText = new Map<string, TagKeys>();
  #lastNames: readonly string[] | undefined;
  #lastKeys: TagKeys | undefined;
  #epoch = 0;
  #firstId = 0;
  #count = 0;
  #countMax: number;
  #lookUpCount = 0;

  constructor(countMax = FIRST_COUNT_MAX) {
    this.#countMax = countMax;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Id of the first series of the epoch. */
  get firstId(): number {
    return this.#firstId;
  }

  get count(): number {
    return this.#count;
  }

  /** Tags must be sorted by key. */
  intern(ref: SeriesRef): Series {
    this.#lookUpCount++;
    const { stableId } = ref;
    if (stableId === undefined) return this.#internByKey(ref);
    const at = stableId - this.#firstStableId;
    const series = at >= 0 ? this.#byStableId[at] : undefined;
    return series ?? this.#internStable(ref, stableId);
  }

  /** The series with a stable id, if it has been interned by it. */
  known(stableId: number): Series | undefined {
    const at = stableId - this.#firstStableId;
    const series = at >= 0 ? this.#byStableId[at] : undefined;
    if (series !== undefined) this.#lookUpCount++;
    return series;
  }

  /**
   * Adds a series that the caller keeps, and has not added before. `first` is the index of its
   * first value in the page.
   */
  add(
    shape: { readonly name: string; readonly keys: TagKeys },
    page: SeriesPage,
    first: number,
  ): Series {
    this.#lookUpCount++;
    return new Series(this.#nextId(), shape.name, shape.keys, page, first, undefined);
  }

  /** A series that the caller keeps, as it is in the present epoch. */
  present(series: Series): Series {
    this.#lookUpCount++;
    return series.id >= this.#firstId ? series : series.withId(this.#nextId());
  }

  #internStable(ref: SeriesRef, stableId: number): Series {
    // Ids are assigned in order, so gaps are few; one far away or from before the epoch is found by
    // its key.
    const gap = stableId - this.#firstStableId - this.#byStableId.length;
    const isFar = stableId < this.#firstStableId || gap > STABLE_GAP_MAX;
    if (this.#byStableId.length > 0 && isFar) return this.#internByKey(ref);
    const series = this.#add(ref);
    if (this.#byStableId.length === 0) this.#firstStableId = stableId;
    const at = stableId - this.#firstStableId;
    while (this.#byStableId.length < at) this.#byStableId.push(undefined);
    this.#byStableId[at] = series;
    return series;
  }

  #internByKey(ref: SeriesRef): Series {
    const { name, tagKeys, tagValues } = ref;
    let key = name;
    for (let i = 0; i < tagKeys.length; i++) key += `\u0000${tagKeys[i]}\u0001${tagValues[i]}`;
    let series = this.#byKey.get(key);
    if (series === undefined) {
      series = this.#add(ref);
      this.#byKey.set(key, series);
    }
    return series;
  }

  #add(ref: SeriesRef): Series {
    const id = this.#nextId();
    const keys = this.internKeys(ref.tagKeys);
    if (ref instanceof PagedSeries)
      return new Series(id, ref.name, keys, ref.page, ref.first, undefined);
    return new Series(id, ref.name, keys, undefined, 0, ref.tagValues);
  }

  #nextId(): number {
    if (this.#count >= this.#countMax) this.#startEpoch();
    return this.#firstId + this.#count++;
  }

  internKeys(names: readonly string[]): TagKeys {
    if (names === this.#lastNames && this.#lastKeys !== undefined) return this.#lastKeys;
    const text = names.join('\u0000');
    let keys = this.#keysByText.get(text);
    if (keys === undefined) {
      keys = new TagKeys(names);
      this.#keysByText.set(text, keys);
    }
    this.#lastNames = names;
    this.#lastKeys = keys;
    return keys;
  }

  /** The series of a name and tags in any order. */
  of(name: string, tags: Iterable<readonly [string, string]>): Series {
    const sorted = [...tags].sort((a, b) => (a[0] < b[0] ? -1 : 1));
    return this.#internByKey({
      name,
      tagKeys: sorted.map(([k]) => k),
      tagValues: sorted.map(([, v]) => v),
    });
  }

  withTag(series: Series, key: string, value: string): Series {
    const tags = series.keys.names.map((k, i): [string, string] => [k, series.values[i] ?? '']);
    const at = series.keys.indexOf.get(key);
    if (at === undefined) tags.push([key, value]);
    else tags[at] = [key, value];
    return this.of(series.name, tags);
  }

  withoutTags(series: Series, names: ReadonlySet<string>): Series {
    const tags: [string, string][] = [];
    series.keys.names.forEach((k, i) => {
      if (!names.has(k)) tags.push([k, series.values[i] ?? '']);
    });
    return tags.length === series.values.length ? series : this.of(series.name, tags);
  }

  withName(series: Series, name: string): Series {
    return name === series.name
      ? series
      : this.#internByKey({ name, tagKeys: series.keys.names, tagValues: series.values });
  }

  /**
   * Series that come and go are dropped with an epoch; if more are alive than fit, the next epoch
   * has more room.
   */
  #startEpoch(): void {
    const isCrowded = this.#lookUpCount < this.#countMax * 4;
    if (isCrowded) this.#countMax = Math.min(this.#countMax * 2, COUNT_MAX);
    this.#lookUpCount = 0;
    this.#firstId += this.#count;
    this.#count = 0;
    this.#byKey = new Map();
    this.#byStableId = [];
    this.#firstStableId = -1;
    this.#keysByText = new Map();
    this.#lastKeys = undefined;
    this.#epoch++;
  }
}
