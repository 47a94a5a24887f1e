// The series index of one database: which series exist, what their tags are, and which of them a
// condition selects.
//
// Forward columns: per measurement and tag key one array of symbols by ordinal (position of the
// series within its measurement). Conditions are evaluated over postings, which are made from
// columns when they are first needed. Keys and symbols lie in the linear memory in which requests
// are parsed, and nowhere else. Ids are dense, ascending and never reused within a database; ids of
// series that are gone for good have none. Format of its files: docs/formats/series-index.md.
import { assert, compareBytes, escapeMeasurement, escapeTagPart } from '@tidemark/core';
import { Kernels, NO_MEASUREMENT, SeriesKeys } from '@tidemark/kernels';
import type { SplitSeries } from '@tidemark/kernels';

import type { SeriesId, SymbolId } from '../columns/series-id.ts';
import { ByteWriter, DecodeError, utf8, utf8Text } from '../columns/bytes.ts';
import { LIMITS } from '../limits.ts';
import { SchemaChanges, SchemaVersions } from './schema-version.ts';
import { SeriesSet } from './series-set.ts';
import { MeasurementIndex } from './measurement-index.ts';
import type { LoadedColumn, TagColumn } from './measurement-index.ts';
import { PatternCache } from './pattern-cache.ts';
import { PostingsCache } from './postings-cache.ts';
import type { EncodedSeries } from './series-list.ts';
import { SeriesRefs } from './series-refs.ts';
import { TagCardinalities } from './tag-cardinality.ts';
import type { Cardinality } from './tag-cardinality.ts';

export type TagPair = readonly [string, string];

const SYMBOL_CACHE_ENTRIES = 1 << 16;

export class SeriesIndex {
  readonly database: string;
  /** By measurement id. */
  readonly measurements: MeasurementIndex[] = [];
  /** Series with data in at least one shard. */
  liveSeries = 0;
  /** Ingest of the database adds series here while it parses; `indexNewSeries` follows. */
  readonly keys = new SeriesKeys(new Kernels());
  /** Postings of tags, shared with other databases. */
  readonly postings: PostingsCache;
  /** Incremented when series come or go. */
  readonly schemaVersions: SchemaVersions;
  /**
   * Which tag values match patterns. Every symbol is read once per pattern: too many to keep
   * decoded ones.
   */
  readonly patterns = new PatternCache((id) => utf8Text(this.keys.text(id)));
  readonly #byName = new Map<string, MeasurementIndex>();
  /** Measurements by their number in `keys`. */
  readonly #byNumber: (MeasurementIndex | undefined)[] = [];
  /** Series with ids below this are in the columns. */
  #indexed = 0;
  readonly #refs = new SeriesRefs();
  readonly #changes: SchemaChanges;
  #dead: SeriesId[] = [];
  /** Deleted series, whose keys no longer lead to them. */
  readonly #forgotten = new SeriesSet();
  #watchForgotten: ((id: SeriesId) => void) | undefined;
  readonly #cardinalities = new TagCardinalities();
  readonly #decoded = new Map<SymbolId, string>();

  constructor(
    database: string,
    postings = new PostingsCache(LIMITS.indexCacheBytes.value),
    schemaVersions = new SchemaVersions(),
  ) {
    this.database = database;
    this.schemaVersions = schemaVersions;
    this.#changes = new SchemaChanges(database, schemaVersions);
    this.postings = postings;
  }

  /** One more than the largest id. */
  get seriesEnd(): number {
    return this.#indexed;
  }

  /** Series that were deleted and still take memory. */
  get forgottenCount(): number {
    return this.#forgotten.size;
  }

  get symbolCount(): number {
    return this.keys.textCount;
  }

  get memoryBytes(): number {
    let bytes = this.keys.memoryBytes + this.#refs.memoryBytes;
    bytes += this.patterns.memoryBytes;
    for (const measurement of this.measurements) bytes += measurement.memoryBytes;
    return bytes;
  }

  measurement(name: string): MeasurementIndex | undefined {
    return this.#byName.get(name);
  }

  addMeasurement(name: string): MeasurementIndex {
    let measurement = this.#byName.get(name);
    if (measurement === undefined) {
      const number = this.keys.measurementNumber(name);
      measurement = new MeasurementIndex(this.measurements.length, name, number);
      this.measurements.push(measurement);
      this.#byName.set(name, measurement);
      this.#byNumber[number] = measurement;
    }
    return measurement;
  }

  /** Id of the series, or -1. Tags are canonical (sorted, no empty values). */
  findSeries(measurement: MeasurementIndex, tags: readonly TagPair[]): SeriesId {
    return this.keys.find(utf8(escapeMeasurement(measurement.name) + tagsTextOf(tags)));
  }

  /**
   * Id of the series, which is added when it is new. Adding does not make it visible: see
   * `addedToShard`.
   */
  addSeries(measurement: MeasurementIndex, tags: readonly TagPair[]): SeriesId {
    const known = this.findSeries(measurement, tags);
    if (known >= 0) return known;
    const key = utf8(tagsTextOf(tags));
    const out = new ByteWriter(key.length + 16);
    out.varint(measurement.id);
    out.block(key);
    const id = this.#indexed;
    this.insert({ count: 1, bytes: out.finish(), measurementIdEnd: measurement.id + 1 }, id);
    return id;
  }

  /**
   * Adds series under ids from `first` on, which follow those that are here; those with smaller ids
   * are known.
   */
  insert(series: EncodedSeries, first: SeriesId): void {
    assert(series.measurementIdEnd <= this.measurements.length, 'measurements of series are known');
    assert(first <= this.#indexed, 'ids have no gaps');
    const numbers = Uint32Array.from(this.measurements, ({ number }) => number);
    this.keys.insertList({ ...series, firstId: first }, numbers);
    this.indexNewSeries();
  }

  /** Takes the series that were added to `keys` into the columns. */
  indexNewSeries(): void {
    const end = this.keys.nextId;
    const keyOf = (number: number): string => this.keys.tagKey(number);
    while (this.#indexed < end) {
      const split = this.keys.split(this.#indexed, end);
      // Adding a measurement may grow linear memory, which invalidates `words`.
      if (this.#addOwners(split)) continue;
      const { count, words } = split;
      let at = 0;
      for (let i = 0; i < count; i++) {
        const number = words[at]!;
        const tags = words[at + 1]!;
        at += 2;
        if (number === NO_MEASUREMENT) continue;
        const id = this.#indexed + i;
        const measurement = this.#byNumber[number]!;
        const ordinal = measurement.addSeries(id);
        this.#refs.set(id, { measurementId: measurement.id, ordinal });
        const { tagKeyCount } = measurement;
        for (let position = 0; position < tags; position++, at += 2) {
          const column = measurement.columnAt(position, words[at]!, keyOf);
          measurement.setColumn(column, ordinal, words[at + 1]!);
        }
        if (measurement.tagKeyCount > tagKeyCount) this.#changes.names();
      }
      this.#indexed += count;
    }
  }

  /** Frees what the index holds outside of itself; it must not be used afterwards. */
  close(): void {
    for (const measurement of this.measurements) {
      for (const { column } of measurement.sortedTagColumns()) this.postings.forget(column);
    }
  }

  /** Takes over the series of a measurement, which has none yet; ids ascend. For opening. */
  load(measurement: MeasurementIndex, ids: Uint32Array, columns: readonly LoadedColumn[]): void {
    const end = this.keys.nextId;
    const { symbolCount } = this;
    measurement.load(ids, columns);
    for (let ordinal = 0; ordinal < ids.length; ordinal++) {
      const id = ids[ordinal]!;
      if (id >= end) throw new DecodeError('series id out of range');
      this.#refs.set(id, { measurementId: measurement.id, ordinal });
    }
    for (const { values } of columns) {
      for (let i = 0; i < values.length; i++) {
        if (values[i]! > symbolCount) throw new DecodeError('symbol id out of range');
      }
    }
    this.#indexed += ids.length;
  }

  /** Ends loading; one more than the largest id. */
  finishLoad(): number {
    if (this.#indexed !== this.keys.presentCount) {
      throw new DecodeError('series without a measurement');
    }
    this.#indexed = this.keys.nextId;
    return this.#indexed;
  }

  /** Adds the measurements that are new; whether there were any. */
  #addOwners({ count, words }: SplitSeries): boolean {
    const missing = new Set<number>();
    let at = 0;
    for (let i = 0; i < count; i++) {
      const number = words[at]!;
      if (number !== NO_MEASUREMENT && this.#byNumber[number] === undefined) missing.add(number);
      at += 2 + 2 * words[at + 1]!;
    }
    for (const number of missing) {
      const { number: named } = this.addMeasurement(this.keys.measurementName(number));
      assert(named === number, 'a measurement has one number');
    }
    return missing.size > 0;
  }

  measurementOf(id: SeriesId): MeasurementIndex {
    const measurement = this.measurements[this.#refs.measurementId(id)];
    assert(measurement !== undefined, 'every series has a measurement');
    return measurement;
  }

  ordinalOf(id: SeriesId): number {
    return this.#refs.ordinal(id);
  }

  /** Whether the id is that of a series, deleted or not. */
  has(id: SeriesId): boolean {
    return this.keys.has(id);
  }

  isLive(id: SeriesId): boolean {
    return this.#refs.shardCount(id) > 0;
  }

  isForgotten(id: SeriesId): boolean {
    return this.#forgotten.has(id);
  }

  addedToShard(id: SeriesId): void {
    this.#changes.series();
    if (this.#refs.addShards(id, 1) > 1) return;
    if (this.#forgotten.delete(id)) {
      this.keys.remember(id);
      this.#countRemoval(id, -1);
    }
    this.measurementOf(id).liveSeries++;
    this.liveSeries++;
  }

  removedFromShard(id: SeriesId): void {
    this.#changes.names();
    assert(this.isLive(id), 'a series leaves only shards that hold it');
    if (this.#refs.addShards(id, -1) > 0) return;
    this.measurementOf(id).liveSeries--;
    this.liveSeries--;
    this.#dead.push(id);
  }

  /** Series that no shard holds any more, since the last call. */
  takeDead(): SeriesId[] {
    const dead = this.#dead;
    this.#dead = [];
    return dead;
  }

  /**
   * Series that are dead (still) leave the table of keys: who writes one of them again makes a new
   * series, which the limits apply to. No write that may refer to them must be under way.
   */
  forgetDead(ids: Iterable<SeriesId>): void {
    for (const id of ids) {
      if (this.isLive(id) || !this.has(id) || !this.#forgotten.add(id)) continue;
      this.keys.forget(id);
      this.#countRemoval(id, 1);
      this.#watchForgotten?.(id);
    }
  }

  /**
   * Calls back for series that are forgotten from now on, until the result is called. One at a
   * time.
   */
  watchForgotten(watch: (id: SeriesId) => void): () => void {
    assert(this.#watchForgotten === undefined, 'one watches at a time');
    this.#watchForgotten = watch;
    return () => {
      if (this.#watchForgotten === watch) this.#watchForgotten = undefined;
    };
  }

  /**
   * Takes over which series are live from an index that has all series of this one, under the same
   * ids.
   */
  takeLiveness(from: SeriesIndex): void {
    this.#refs.copyShardCounts(from.#refs);
    this.liveSeries = from.liveSeries;
    for (const measurement of this.measurements) {
      measurement.liveSeries = from.measurements[measurement.id]?.liveSeries ?? 0;
    }
    this.#dead = from.takeDead();
  }

  #countRemoval(id: SeriesId, change: 1 | -1): void {
    const measurement = this.measurementOf(id);
    measurement.removals++;
    measurement.removedSeries += change;
  }

  /**
   * How many values the series of a measurement have for a tag key. Pauses where it has to look at
   * many.
   */
  tagCardinality(
    measurement: MeasurementIndex,
    column: TagColumn,
  ): Generator<undefined, Cardinality> {
    return this.#cardinalities.of(measurement, column, (ordinal) =>
      this.#forgotten.has(measurement.seriesId(ordinal)),
    );
  }

  /** As `forgetDead`, of all series; for the end of opening. */
  forgetAllDead(): void {
    this.#dead = [];
    for (let id = 0; id < this.#indexed; id++) if (!this.isLive(id)) this.forgetDead([id]);
  }

  /** The symbol of a text, or -1 when no tag value is equal to it. */
  findSymbol(text: string): SymbolId {
    return this.keys.findText(utf8(text));
  }

  /** The text of a symbol. */
  symbol(id: SymbolId): string {
    let text = this.#decoded.get(id);
    if (text === undefined) {
      text = utf8Text(this.keys.text(id));
      if (this.#decoded.size >= SYMBOL_CACHE_ENTRIES) this.#decoded.clear();
      this.#decoded.set(id, text);
    }
    return text;
  }

  /** As `symbol`, of one of very many: its text is not kept decoded. */
  symbolOnce(id: SymbolId): string {
    return this.#decoded.get(id) ?? utf8Text(this.keys.text(id));
  }

  /** Tags of a series, sorted bytewise by key. */
  tags(id: SeriesId): TagPair[] {
    const ordinal = this.ordinalOf(id);
    const pairs: TagPair[] = [];
    for (const { key, column } of this.measurementOf(id).sortedTagColumns()) {
      const stored = column.values[ordinal] ?? 0;
      if (stored !== 0) pairs.push([key, this.symbol(stored - 1)]);
    }
    return pairs;
  }

  /** Canonical series key. */
  seriesKey(id: SeriesId): string {
    return escapeMeasurement(this.measurementOf(id).name) + this.tagsText(id);
  }

  /** The key without the measurement: `,tag=value,…`. */
  tagsText(id: SeriesId): string {
    return utf8Text(this.keys.tags(id));
  }

  /**
   * Ids [first, end) as a log holds them; those of forgotten series as if they had none where that
   * is wanted.
   */
  encodedSeries(
    first: SeriesId,
    end: SeriesId,
    options: { readonly leavesForgotten?: boolean } = {},
  ): EncodedSeries {
    const measurementIds = new Uint32Array(this.#byNumber.length);
    for (const { number, id } of this.measurements) measurementIds[number] = id;
    const list = this.keys.encodeList(first, end, { measurementIds, ...options });
    return { ...list, measurementIdEnd: this.measurements.length };
  }
}

/** Sorted by key, empty values removed; of equal keys the last one wins. */
export function canonicalTags(tags: readonly TagPair[]): TagPair[] {
  const byKey = new Map<string, string>();
  for (const [key, value] of tags) if (value !== '') byKey.set(key, value);
  return [...byKey].sort((a, b) => compareBytes(a[0], b[0]));
}

function tagsTextOf(tags: readonly TagPair[]): string {
  let text = '';
  for (const [key, value] of tags) text += `,${escapeTagPart(key)}=${escapeTagPart(value)}`;
  return text;
}
