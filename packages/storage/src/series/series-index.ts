// The series index of one database: which series exist, their tags, and which of them a condition
// selects.
//
// For each measurement and tag key there is a column: an array of symbols by ordinal (the position
// of a series within its measurement). Conditions are evaluated with postings, which are built from
// columns when first needed. Keys and symbols are stored once, in the linear memory in which
// requests are parsed. Ids are dense, ascending and never reused within a database; an id whose
// series was removed stays unused. Format of the files: docs/formats/series-index.md.
import { assert, escapeMeasurement, escapeTagPart, textBytes, utf8Text } from '@tidemark/core';
import { Kernels, NO_MEASUREMENT, SeriesKeys } from '@tidemark/kernels';
import type { SplitSeries } from '@tidemark/kernels';
import type { TagPair } from '@tidemark/storage-api';

import type { SeriesId, SymbolId } from '../columns/series-id.ts';
import { ByteWriter, DecodeError, utf8 } from '../columns/bytes.ts';
import { LIMITS } from '../limits.ts';
import { SchemaChanges, SchemaVersions } from './schema-version.ts';
import { SeriesSet } from './series-set.ts';
import { MeasurementIndex } from './measurement-index.ts';
import type { LoadedColumn, TagColumn } from './measurement-index.ts';
import { PatternCache } from './pattern-cache.ts';
import { IndexCache } from './index-cache.ts';
import type { EncodedSeries } from './series-list.ts';
import { SeriesRefs } from './series-refs.ts';
import { TagCardinalities } from './tag-cardinality.ts';
import type { Cardinality } from './tag-cardinality.ts';

/** Texts of tags that are cached: those of tens of thousands of hosts. */
const SYMBOL_CACHE_BYTES = 8 << 20;
/** An entry of the cache besides its text. */
const CACHED_SYMBOL_BYTES = 32;

export class SeriesIndex {
  readonly database: string;
  /** By measurement id. */
  readonly measurements: MeasurementIndex[] = [];
  /** Series with rows in at least one shard. */
  liveSeries = 0;
  /** Ingest adds series here while it parses; `indexNewSeries` must follow. */
  readonly keys = new SeriesKeys(new Kernels());
  /** Shared with other databases. */
  readonly cache: IndexCache;
  /** Versions of the schema, incremented when series are added or removed. */
  readonly schemaVersions: SchemaVersions;
  /**
   * Which tag values match a pattern. A pattern is tested on every symbol once, so their texts are
   * not kept.
   */
  readonly patterns = new PatternCache((id) => utf8Text(this.keys.symbol(id)));
  readonly #byName = new Map<string, MeasurementIndex>();
  /** Measurements by their number in `keys`, which differs from their id. */
  readonly #byNumber: (MeasurementIndex | undefined)[] = [];
  /** Series with smaller ids are in the columns. */
  #indexed = 0;
  readonly #refs = new SeriesRefs();
  readonly #changes: SchemaChanges;
  #empty: SeriesId[] = [];
  /** Deleted series that `keys` does not find any more. */
  readonly #deleted = new SeriesSet();
  #watchDeleted: ((id: SeriesId) => void) | undefined;
  readonly #cardinalities = new TagCardinalities();
  readonly #decoded = new Map<SymbolId, string>();
  #decodedBytes = 0;

  constructor(
    database: string,
    cache = new IndexCache(LIMITS.indexCacheBytes.value),
    schemaVersions = new SchemaVersions(),
  ) {
    this.database = database;
    this.schemaVersions = schemaVersions;
    this.#changes = new SchemaChanges(database, schemaVersions);
    this.cache = cache;
  }

  /** One more than the largest id. */
  get seriesEnd(): number {
    return this.#indexed;
  }

  /** Number of deleted series that still take memory. */
  get deletedCount(): number {
    return this.#deleted.size;
  }

  get symbolCount(): number {
    return this.keys.symbolCount;
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

  /** Id of a series, or -1. Tags are canonical (sorted, no empty values). */
  findSeries(measurement: MeasurementIndex, tags: readonly TagPair[]): SeriesId {
    return this.keys.find(utf8(escapeMeasurement(measurement.name) + tagsTextOf(tags)));
  }

  /** Id of a series, which is created if it is new. It becomes visible with `addedToShard`. */
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
   * Adds a list of series, the first of which has the id `first`. Ids that are known already are
   * skipped.
   */
  insert(series: EncodedSeries, first: SeriesId): void {
    assert(series.measurementIdEnd <= this.measurements.length, 'measurements of series are known');
    assert(first <= this.#indexed, 'ids have no gaps');
    const numbers = Uint32Array.from(this.measurements, ({ number }) => number);
    this.keys.insertList({ ...series, firstId: first }, numbers);
    this.indexNewSeries();
  }

  /** Adds new series of `keys` to the columns. */
  indexNewSeries(): void {
    const end = this.keys.nextId;
    const keyOf = (number: number): string => this.keys.tagKey(number);
    while (this.#indexed < end) {
      const split = this.keys.split(this.#indexed, end);
      // Adding a measurement may grow linear memory, which detaches `words`.
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

  /** Frees what is cached. The index must not be used afterwards. */
  close(): void {
    for (const measurement of this.measurements) this.cache.forget(measurement);
  }

  /** Sets the series of an empty measurement from a checkpoint; ids ascend. */
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

  /** Ends loading. Returns one more than the largest id. */
  finishLoad(): number {
    if (this.#indexed !== this.keys.presentCount) {
      throw new DecodeError('series without a measurement');
    }
    this.#indexed = this.keys.nextId;
    return this.#indexed;
  }

  /** Adds new measurements. Returns whether there were any. */
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

  /** Whether a series has this id, even a deleted one. */
  has(id: SeriesId): boolean {
    return this.keys.has(id);
  }

  isLive(id: SeriesId): boolean {
    return this.#refs.shardCount(id) > 0;
  }

  isDeleted(id: SeriesId): boolean {
    return this.#deleted.has(id);
  }

  addedToShard(id: SeriesId): void {
    this.#changes.series();
    if (this.#refs.addShards(id, 1) > 1) return;
    if (this.#deleted.delete(id)) {
      this.keys.undelete(id);
      this.#countRemoval(id, -1);
    }
    this.measurementOf(id).liveSeries++;
    this.liveSeries++;
  }

  removedFromShard(ids: Iterable<SeriesId>): void {
    this.#changes.names();
    for (const id of ids) {
      assert(this.isLive(id), 'a series leaves only shards that hold it');
      if (this.#refs.addShards(id, -1) > 0) continue;
      this.measurementOf(id).liveSeries--;
      this.liveSeries--;
      this.#empty.push(id);
    }
  }

  /** Returns the series that have lost their last shard since the last call. */
  takeEmpty(): SeriesId[] {
    const empty = this.#empty;
    this.#empty = [];
    return empty;
  }

  /**
   * Removes series from the table of keys if they are still without rows. A later write of such a
   * key creates a new series, to which limits apply. No write that may refer to the old ids may be
   * in progress.
   */
  deleteEmpty(ids: Iterable<SeriesId>): void {
    for (const id of ids) {
      if (this.isLive(id) || !this.has(id) || !this.#deleted.add(id)) continue;
      this.keys.delete(id);
      this.#countRemoval(id, 1);
      this.#watchDeleted?.(id);
    }
  }

  /**
   * Calls `watch` for every series that is deleted, until the result is called. One watcher at a
   * time.
   */
  watchDeleted(watch: (id: SeriesId) => void): () => void {
    assert(this.#watchDeleted === undefined, 'one watches at a time');
    this.#watchDeleted = watch;
    return () => {
      if (this.#watchDeleted === watch) this.#watchDeleted = undefined;
    };
  }

  /**
   * Copies the numbers of shards per series from an index that has all series of this one under the
   * same ids.
   */
  takeLiveness(from: SeriesIndex): void {
    this.#refs.copyShardCounts(from.#refs);
    this.liveSeries = from.liveSeries;
    for (const measurement of this.measurements) {
      measurement.liveSeries = from.measurements[measurement.id]?.liveSeries ?? 0;
    }
    this.#empty = from.takeEmpty();
  }

  #countRemoval(id: SeriesId, change: 1 | -1): void {
    const measurement = this.measurementOf(id);
    measurement.removals++;
    measurement.removedSeries += change;
  }

  /** Number of values that a measurement's series have for a tag key. Pauses during long loops. */
  tagCardinality(
    measurement: MeasurementIndex,
    column: TagColumn,
  ): Generator<undefined, Cardinality> {
    return this.#cardinalities.of(measurement, column, (ordinal) =>
      this.#deleted.has(measurement.seriesId(ordinal)),
    );
  }

  /** As `deleteEmpty` for all series, at the end of recovery. */
  deleteAllEmpty(): void {
    this.#empty = [];
    for (let id = 0; id < this.#indexed; id++) if (!this.isLive(id)) this.deleteEmpty([id]);
  }

  /** The symbol of a text, or -1 when no tag has this value. */
  findSymbol(text: string): SymbolId {
    return this.keys.findSymbol(utf8(text));
  }

  /** The text of a symbol, cached. */
  symbol(id: SymbolId): string {
    let text = this.#decoded.get(id);
    if (text === undefined) {
      text = utf8Text(this.keys.symbol(id));
      const bytes = textBytes(text) + CACHED_SYMBOL_BYTES;
      if (this.#decodedBytes + bytes > SYMBOL_CACHE_BYTES) {
        this.#decoded.clear();
        this.#decodedBytes = 0;
      }
      this.#decoded.set(id, text);
      this.#decodedBytes += bytes;
    }
    return text;
  }

  /** The text of a symbol, not cached: for loops over very many symbols. */
  symbolOnce(id: SymbolId): string {
    return this.#decoded.get(id) ?? utf8Text(this.keys.symbol(id));
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

  /** The canonical series key. */
  seriesKey(id: SeriesId): string {
    return escapeMeasurement(this.measurementOf(id).name) + this.tagsText(id);
  }

  /** The key without the measurement: `,tag=value,…`. */
  tagsText(id: SeriesId): string {
    return utf8Text(this.keys.tags(id));
  }

  /**
   * Series with ids in [first, end) in the encoding of a log. `leavesDeleted` leaves deleted
   * series out.
   */
  encodedSeries(
    first: SeriesId,
    end: SeriesId,
    options: { readonly leavesDeleted?: boolean } = {},
  ): EncodedSeries {
    const measurementIds = new Uint32Array(this.#byNumber.length);
    for (const { number, id } of this.measurements) measurementIds[number] = id;
    const list = this.keys.encodeList(first, end, { measurementIds, ...options });
    return { ...list, measurementIdEnd: this.measurements.length };
  }
}

function tagsTextOf(tags: readonly TagPair[]): string {
  let text = '';
  for (const [key, value] of tags) text += `,${escapeTagPart(key)}=${escapeTagPart(value)}`;
  return text;
}
