// The series index of one database: which series exist, what their tags are, and which of them a condition selects.
//
// Forward columns: per measurement and tag key one array of text ids by ordinal (position of the series within its
// measurement). Conditions are evaluated over postings, which are made from columns when they are first needed.
// Keys and texts lie in the linear memory in which requests are parsed, and nowhere else. Ids are dense, ascending and
// never reused within one index; format of its files: docs/formats/series-index.md.
import { assert, compareBytes, escapeMeasurement, escapeTagPart } from '@tidemark/core';
import { Kernels, NO_MEASUREMENT, SeriesKeys } from '@tidemark/kernels';
import type { SplitSeries } from '@tidemark/kernels';

import { ByteWriter, DecodeError, utf8, utf8Text } from '../bytes.ts';
import { LIMITS } from '../limits.ts';
import { schemaChanged } from '../schema-version.ts';
import { SeriesSet } from '../shard/series-set.ts';
import { MeasurementIndex } from './measurement-index.ts';
import type { LoadedColumn, TagColumn } from './measurement-index.ts';
import { PatternCache } from './pattern-cache.ts';
import { PostingsCache } from './postings-cache.ts';
import type { EncodedSeries } from './series-list.ts';
import { TagCardinalities } from './tag-cardinality.ts';
import type { Cardinality } from './tag-cardinality.ts';

export type SeriesId = number;
export type TextId = number;

export type TagPair = readonly [string, string];

const TEXT_CACHE_ENTRIES = 1 << 16;

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
  /** Which tag values match patterns. Every text is read once per pattern: too many to keep decoded ones. */
  readonly patterns = new PatternCache((id) => utf8Text(this.keys.text(id)));
  readonly #byName = new Map<string, MeasurementIndex>();
  /** By the number they have in `keys`. */
  readonly #byNumber: (MeasurementIndex | undefined)[] = [];
  /** Series below this id are in the columns. */
  #indexed = 0;
  #measurementOf = new Uint32Array(64);
  #ordinalOf = new Uint32Array(64);
  /** Number of shards that hold data of the series; 0 = the series is not visible. */
  #shardCount = new Uint16Array(64);
  #dead: SeriesId[] = [];
  /** Series whose keys do not lead to them any more. */
  readonly #forgotten = new SeriesSet();
  readonly #cardinalities = new TagCardinalities();
  readonly #decoded = new Map<TextId, string>();

  constructor(database: string, postings = new PostingsCache(LIMITS.indexCacheBytes.value)) {
    this.database = database;
    this.postings = postings;
  }

  get seriesCount(): number {
    return this.#indexed;
  }

  get textCount(): number {
    return this.keys.textCount;
  }

  get memoryBytes(): number {
    let bytes = this.keys.memoryBytes + this.#measurementOf.length * 10;
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

  /** Id of the series, which is added when it is new. Adding does not make it visible: see `addedToShard`. */
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

  /** Adds series under ids from `first` on, which follow those that are here; those with smaller ids are known. */
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
    this.#growSeries(end);
    const keyOf = (number: number): string => this.keys.tagKey(number);
    while (this.#indexed < end) {
      const split = this.keys.split(this.#indexed, end);
      // Naming a measurement may grow linear memory, which takes the words away.
      if (this.#addOwners(split)) continue;
      const { count, words } = split;
      let at = 0;
      for (let i = 0; i < count; i++) {
        const id = this.#indexed + i;
        const measurement = this.#byNumber[words[at]!]!;
        const ordinal = measurement.addSeries(id);
        this.#measurementOf[id] = measurement.id;
        this.#ordinalOf[id] = ordinal;
        const tags = words[at + 1]!;
        at += 2;
        for (let position = 0; position < tags; position++, at += 2) {
          const column = measurement.columnAt(position, words[at]!, keyOf);
          measurement.setColumn(column, ordinal, words[at + 1]!);
        }
      }
      this.#indexed += count;
    }
  }

  /** The index is not used any more. */
  close(): void {
    for (const measurement of this.measurements) {
      for (const { column } of measurement.sortedTagColumns()) this.postings.forget(column);
    }
  }

  /** Takes over the series of a measurement, which has none yet; ids ascend. For opening. */
  load(measurement: MeasurementIndex, ids: Uint32Array, columns: readonly LoadedColumn[]): void {
    const end = this.keys.nextId;
    const { textCount } = this;
    this.#growSeries(end);
    measurement.load(ids, columns);
    for (let ordinal = 0; ordinal < ids.length; ordinal++) {
      const id = ids[ordinal]!;
      if (id >= end) throw new DecodeError('series id out of range');
      this.#measurementOf[id] = measurement.id;
      this.#ordinalOf[id] = ordinal;
    }
    for (const { values } of columns) {
      for (let i = 0; i < values.length; i++) {
        if (values[i]! > textCount) throw new DecodeError('text id out of range');
      }
    }
    this.#indexed += ids.length;
  }

  /** Ends loading; the number of series. */
  finishLoad(): number {
    if (this.#indexed !== this.keys.nextId) throw new DecodeError('series without a measurement');
    return this.#indexed;
  }

  /** Adds the measurements that are new; whether there were any. */
  #addOwners({ count, words }: SplitSeries): boolean {
    const missing = new Set<number>();
    let at = 0;
    for (let i = 0; i < count; i++) {
      const number = words[at]!;
      assert(number !== NO_MEASUREMENT, 'ids of series have no gaps');
      if (this.#byNumber[number] === undefined) missing.add(number);
      at += 2 + 2 * words[at + 1]!;
    }
    for (const number of missing) {
      const { number: named } = this.addMeasurement(this.keys.measurementName(number));
      assert(named === number, 'a measurement has one number');
    }
    return missing.size > 0;
  }

  measurementOf(id: SeriesId): MeasurementIndex {
    const measurement = this.measurements[this.#measurementOf[id]!];
    assert(measurement !== undefined, 'every series has a measurement');
    return measurement;
  }

  ordinalOf(id: SeriesId): number {
    return this.#ordinalOf[id]!;
  }

  isLive(id: SeriesId): boolean {
    return this.#shardCount[id]! > 0;
  }

  addedToShard(id: SeriesId): void {
    schemaChanged();
    if (this.#shardCount[id]!++ > 0) return;
    if (this.#forgotten.delete(id)) {
      this.keys.remember(id);
      this.#countRemoval(id, -1);
    }
    this.measurementOf(id).liveSeries++;
    this.liveSeries++;
  }

  removedFromShard(id: SeriesId): void {
    schemaChanged();
    assert(this.#shardCount[id]! > 0, 'a series leaves only shards that hold it');
    if (--this.#shardCount[id]! > 0) return;
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
   * Series that are dead (still) leave the table of keys: who writes one of them again makes a new series, which the
   * limits apply to. No write that may refer to them must be under way.
   */
  forgetDead(ids: Iterable<SeriesId>): void {
    for (const id of ids) {
      if (this.isLive(id) || !this.#forgotten.add(id)) continue;
      this.keys.forget(id);
      this.#countRemoval(id, 1);
    }
  }

  #countRemoval(id: SeriesId, change: 1 | -1): void {
    const measurement = this.measurementOf(id);
    measurement.removals++;
    measurement.removedSeries += change;
  }

  /** How many values the series of a measurement have for a tag key. Pauses where it has to look at many. */
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

  /** Id of a text, or -1 when no tag value is equal to it. */
  findText(text: string): TextId {
    return this.keys.findText(utf8(text));
  }

  text(id: TextId): string {
    let text = this.#decoded.get(id);
    if (text === undefined) {
      text = utf8Text(this.keys.text(id));
      if (this.#decoded.size >= TEXT_CACHE_ENTRIES) this.#decoded.clear();
      this.#decoded.set(id, text);
    }
    return text;
  }

  /** Tags of a series, sorted bytewise by key. */
  tags(id: SeriesId): TagPair[] {
    const ordinal = this.#ordinalOf[id]!;
    const pairs: TagPair[] = [];
    for (const { key, column } of this.measurementOf(id).sortedTagColumns()) {
      const stored = column.values[ordinal] ?? 0;
      if (stored !== 0) pairs.push([key, this.text(stored - 1)]);
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

  /** Series [first, end) as a log holds them. */
  encodedSeries(first: SeriesId, end: SeriesId): EncodedSeries {
    const ids = new Uint32Array(this.#byNumber.length);
    for (const { number, id } of this.measurements) ids[number] = id;
    const bytes = this.keys.encodeList(first, end, ids);
    return { count: end - first, bytes, measurementIdEnd: this.measurements.length };
  }

  #growSeries(count: number): void {
    if (count <= this.#measurementOf.length) return;
    const length = Math.max(count, Math.ceil(this.#measurementOf.length * 1.5));
    const measurementOf = new Uint32Array(length);
    measurementOf.set(this.#measurementOf);
    const ordinalOf = new Uint32Array(length);
    ordinalOf.set(this.#ordinalOf);
    const shardCount = new Uint16Array(length);
    shardCount.set(this.#shardCount);
    this.#measurementOf = measurementOf;
    this.#ordinalOf = ordinalOf;
    this.#shardCount = shardCount;
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
