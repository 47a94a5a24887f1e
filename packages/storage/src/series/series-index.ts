// The series index of one database: which series exist, what their tags are, and which of them a condition selects.
//
// Forward columns: per measurement and tag key one array of text ids by ordinal (position of the series within its
// measurement). Conditions are evaluated once per distinct text, then the column is scanned, about 1 ns per series.
// Ids are dense, ascending and never reused within one index; format of its files: docs/formats/series-index.md.
import { assert, compareBytes, escapeMeasurement, escapeTagPart } from '@tidemark/core';

import { utf8, utf8Text } from '../bytes.ts';
import { schemaChanged } from '../schema-version.ts';
import { ByteDictionary } from './byte-dictionary.ts';
import { MeasurementIndex } from './measurement-index.ts';
import type { SeriesList } from './series-list.ts';
import { BACKSLASH, COMMA, EQUALS, partEnd, unescaped } from './series-key.ts';

export type SeriesId = number;
export type TextId = number;

export type TagPair = readonly [string, string];

const TEXT_CACHE_ENTRIES = 1 << 16;
/** Keys are looked up with the measurement's id before the tags. */
const KEY_PREFIX_BYTES = 4;

export class SeriesIndex {
  readonly database: string;
  /** By measurement id. */
  readonly measurements: MeasurementIndex[] = [];
  /** Series with data in at least one shard. */
  liveSeries = 0;
  readonly #byName = new Map<string, MeasurementIndex>();
  readonly #texts = new ByteDictionary();
  /** Measurement id (4 bytes) and canonical tags text to series id. */
  readonly #keys = new ByteDictionary();
  #measurementOf = new Uint32Array(64);
  #ordinalOf = new Uint32Array(64);
  /** Number of shards that hold data of the series; 0 = the series is not visible. */
  #shardCount = new Uint16Array(64);
  readonly #decoded = new Map<TextId, string>();
  #scratch: Uint8Array = new Uint8Array(256);

  constructor(database: string) {
    this.database = database;
  }

  get seriesCount(): number {
    return this.#keys.count;
  }

  get textCount(): number {
    return this.#texts.count;
  }

  get memoryBytes(): number {
    let bytes = this.#texts.memoryBytes + this.#keys.memoryBytes + this.#measurementOf.length * 10;
    for (const measurement of this.measurements) bytes += measurement.memoryBytes;
    return bytes;
  }

  measurement(name: string): MeasurementIndex | undefined {
    return this.#byName.get(name);
  }

  addMeasurement(name: string): MeasurementIndex {
    let measurement = this.#byName.get(name);
    if (measurement === undefined) {
      measurement = new MeasurementIndex(this.measurements.length, name);
      this.measurements.push(measurement);
      this.#byName.set(name, measurement);
    }
    return measurement;
  }

  /** Id of the series, or -1. Tags are canonical (sorted, no empty values). */
  findSeries(measurement: MeasurementIndex, tags: readonly TagPair[]): SeriesId {
    return this.#keys.find(keyBytes(measurement.id, tags));
  }

  /** Id of the series, which is added when it is new. Adding does not make it visible: see `addedToShard`. */
  addSeries(measurement: MeasurementIndex, tags: readonly TagPair[]): SeriesId {
    return this.addSeriesByKey(measurement, keyBytes(measurement.id, tags).subarray(4));
  }

  /** As `addSeries`; the bytes in [start, end) are the canonical key without the measurement: `,tag=value,…`. */
  addSeriesByKey(
    measurement: MeasurementIndex,
    bytes: Uint8Array,
    start = 0,
    end = bytes.length,
  ): SeriesId {
    const length = KEY_PREFIX_BYTES + end - start;
    if (length > this.#scratch.length) this.#scratch = new Uint8Array(length * 2);
    const key = this.#scratch;
    const measurementId = measurement.id;
    for (let i = 0; i < KEY_PREFIX_BYTES; i++) key[i] = (measurementId >>> (8 * i)) & 0xff;
    // No view of the key is made: for a million short keys that costs more than this loop.
    for (let i = start; i < end; i++) key[KEY_PREFIX_BYTES + i - start] = bytes[i]!;
    const known = this.#keys.count;
    const id = this.#keys.addRange(key, 0, length);
    if (id < known) return id;
    this.#growSeries(id + 1);
    this.#measurementOf[id] = measurement.id;
    const ordinal = measurement.addSeries(id);
    this.#ordinalOf[id] = ordinal;
    this.#addTags(measurement, ordinal, length);
    return id;
  }

  /** Tags of the key that lies in the first `end` bytes of the scratch buffer. */
  #addTags(measurement: MeasurementIndex, ordinal: number, end: number): void {
    const key = this.#scratch;
    let at = KEY_PREFIX_BYTES;
    for (let position = 0; at < end; position++) {
      const nameEnd = partEnd(key, { from: at + 1, limit: end, end: EQUALS });
      const valueEnd = partEnd(key, { from: nameEnd + 1, limit: end, end: COMMA });
      const column = measurement.columnAt(position, key, at + 1, nameEnd);
      const value = this.#addText(key, nameEnd + 1, valueEnd);
      measurement.setColumn(column, ordinal, value);
      at = valueEnd;
    }
  }

  #addText(bytes: Uint8Array, start: number, end: number): TextId {
    for (let i = start; i < end; i++) {
      if (bytes[i] === BACKSLASH) return this.#texts.add(unescaped(bytes.subarray(start, end)));
    }
    return this.#texts.addRange(bytes, start, end);
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
    this.measurementOf(id).liveSeries++;
    this.liveSeries++;
  }

  removedFromShard(id: SeriesId): void {
    schemaChanged();
    assert(this.#shardCount[id]! > 0, 'a series leaves only shards that hold it');
    if (--this.#shardCount[id]! > 0) return;
    this.measurementOf(id).liveSeries--;
    this.liveSeries--;
  }

  /** Id of a text, or -1 when no tag value is equal to it. */
  findText(text: string): TextId {
    return this.#texts.find(utf8(text));
  }

  text(id: TextId): string {
    let text = this.#decoded.get(id);
    if (text === undefined) {
      text = utf8Text(this.#texts.bytes(id));
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
    return utf8Text(this.tagsBytes(id));
  }

  /** As `tagsText`; a view, valid until the next series is added. */
  tagsBytes(id: SeriesId): Uint8Array {
    return this.#keys.bytes(id).subarray(KEY_PREFIX_BYTES);
  }

  /** Series from `first` on. Later additions do not change the list. */
  seriesSince(first: SeriesId): SeriesList {
    const { bytes, ends } = this.#keys.entries();
    const starts = new Uint32Array(ends.length - first);
    for (let i = 0; i < starts.length; i++) {
      const id = first + i;
      starts[i] = (id === 0 ? 0 : ends[id - 1]!) + KEY_PREFIX_BYTES;
    }
    return {
      count: starts.length,
      measurementIds: this.#measurementOf.subarray(first, ends.length),
      bytes,
      starts,
      ends: ends.subarray(first),
    };
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

function keyBytes(measurementId: number, tags: readonly TagPair[]): Uint8Array {
  let text = '    ';
  for (const [key, value] of tags) text += `,${escapeTagPart(key)}=${escapeTagPart(value)}`;
  const bytes = utf8(text);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, measurementId, true);
  return bytes;
}
