// The series of one database in linear memory: canonical key -> dense id and back, and the texts of
// their tags. The only place that holds keys; ingest looks them up there while it parses.
import { assert, escapeMeasurement, Unavailable } from '@tidemark/core';

import { Area, NO_ID, SPLIT_WORDS, TEXT_KINDS } from './abi.gen.ts';
import { checkResult, CodecError } from './codec-error.ts';
import type { Kernels } from './loader.ts';
import { Names } from './names.ts';

/** Series with tags as ids; see `SeriesKeys.split`. */
export type SplitSeries = {
  /** How many series `words` describes. */
  readonly count: number;
  /**
   * Per series: number of its measurement (`NO_MEASUREMENT` when it does not exist), number of its
   * tags, and per tag the ids of key and value. A view, valid until the next call.
   */
  readonly words: Uint32Array;
};

/** Series one after the other as logs hold them; see `SeriesKeys.encodeList`. */
export type SeriesList = {
  readonly bytes: Uint8Array;
  /** Entries: series, and runs of ids that have none. */
  readonly count: number;
  readonly firstId: number;
};

/** What a series table consists of. */
export type SeriesPart = 'series' | 'values' | 'keys';

const PORTION_BYTES = 1 << 20;
const ENTRIES_PER_STEP = 1 << 14;
// Comparisons load whole words and may touch bytes behind the last entry.
const SLACK_BYTES = 64;

export const NO_MEASUREMENT = NO_ID;

/** Ids are handed out in ascending order and never used again. */
export class SeriesKeys {
  readonly kernels: Kernels;
  readonly names: Names;

  constructor(kernels: Kernels) {
    this.kernels = kernels;
    this.names = new Names(kernels);
  }

  /** One more than the largest id. */
  get nextId(): number {
    return this.kernels.exports.nextSeriesId();
  }

  /** How many series there are, those that were forgotten included. */
  get presentCount(): number {
    return this.kernels.exports.seriesPresent();
  }

  has(id: number): boolean {
    return this.kernels.exports.seriesKey(id) !== 0;
  }

  /** Bytes held by keys, texts and their tables. */
  get memoryBytes(): number {
    const { exports } = this.kernels;
    return (exports.seriesMemory() >>> 0) + (exports.textMemory() >>> 0);
  }

  /** Number of a measurement, made when it is new. */
  measurementNumber(name: string): number {
    return this.names.measurementNumber(this.names.encode(escapeMeasurement(name)));
  }

  get measurementCount(): number {
    return this.kernels.exports.measurementCount();
  }

  /** Name of a measurement without escapes. */
  measurementName(number: number): string {
    return this.names.measurement(number);
  }

  /** Id of a canonical key, or -1. */
  find(key: Uint8Array): number {
    const { exports } = this.kernels;
    const address = this.kernels.copyIn(Area.name, key);
    const id = exports.findSeries(address, key.length, exports.hashKey(address, key.length)) >>> 0;
    return id === NO_ID ? -1 : id;
  }

  /** Canonical key of a series; empty when there is none. A view, valid until the next call. */
  key(id: number): Uint8Array {
    const { exports } = this.kernels;
    const start = exports.seriesKey(id) >>> 0;
    if (start === 0) return NO_BYTES;
    return this.kernels.bytes.subarray(start, start + exports.seriesKeyLength(id));
  }

  /** The part of the key behind the measurement. A view, valid until the next call. */
  tags(id: number): Uint8Array {
    const { exports } = this.kernels;
    const key = this.key(id);
    if (key.length === 0) return key;
    return key.subarray(exports.measurementNameLength(exports.seriesMeasurement(id)));
  }

  /** Takes apart the keys of series [first, end), as many as fit the answer, at least one. */
  split(first: number, end: number): SplitSeries {
    assert(first < end, 'something to split');
    const { exports } = this.kernels;
    const count = exports.splitSeries(first, end);
    if (count < 0) throw new Unavailable('kernel memory is exhausted');
    return {
      count,
      words: new Uint32Array(this.kernels.buffer, exports.splitWords() >>> 0, SPLIT_WORDS),
    };
  }

  /**
   * Ids [first, end) as a list. Per series a varint of what `measurementIds` has for the number of
   * its measurement, then length and bytes of its tags; for a run of ids without series 2^32 - 1
   * and their number. `leavesForgotten` treats forgotten series as if they were none.
   */
  encodeList(
    first: number,
    end: number,
    options: { readonly measurementIds: Uint32Array; readonly leavesForgotten?: boolean },
  ): Omit<SeriesList, 'firstId'> {
    if (first >= end) return { bytes: NO_BYTES, count: 0 };
    const { measurementIds, leavesForgotten = false } = options;
    const { exports } = this.kernels;
    const ids = this.kernels.copyIn(Area.input, measurementIds);
    const output = this.kernels.scratch(Area.output, exports.seriesListBound(first, end));
    const size = exports.encodeSeriesList(first, end, ids, output, leavesForgotten) >>> 0;
    const bytes = this.kernels.bytes.slice(output, output + size);
    return { bytes, count: exports.listedEntries() };
  }

  /**
   * Adds the series of a list under ids from `firstId` on, leaving out ids that exist. `numbers`
   * has the number of a measurement by the id that the list uses. Of two series with one key the
   * later is the one that is found. Throws `CodecError` for bytes that are no list.
   */
  insertList(list: SeriesList, numbers: Uint32Array): void {
    const { exports } = this.kernels;
    const input = this.kernels.copyIn(Area.input, list.bytes);
    const numbersAt = this.kernels.copyIn(Area.output, numbers);
    const { length } = list.bytes;
    const { count, firstId } = list;
    checkResult(
      exports.insertSeriesList(
        input,
        length,
        count,
        firstId,
        this.nextId,
        numbersAt,
        numbers.length,
      ),
      'series list',
    );
  }

  /**
   * The key does not lead to the series any more: who writes it makes a new one. `key` still works.
   */
  forget(id: number): void {
    this.kernels.exports.forgetSeries(id);
  }

  /** Undoes `forget`, unless the key leads to another series by now. */
  remember(id: number): void {
    this.kernels.exports.rememberSeries(id);
  }

  /**
   * Everything that `loadPart` takes of the first `counts` entries. Views, each valid until the
   * next is asked for.
   */
  *exportPart(part: SeriesPart, end: number): Generator<Uint8Array> {
    const { exports } = this.kernels;
    for (let first = 0; first < end;) {
      const output = this.kernels.scratch(Area.output, PORTION_BYTES);
      const next =
        part === 'series'
          ? exports.exportSeries(first, end, output, PORTION_BYTES)
          : exports.exportTexts(TEXT_KINDS[part], first, end, output, PORTION_BYTES);
      const size = part === 'series' ? exports.exportedSeriesBytes() : exports.exportedEntryBytes();
      assert(next > first, 'a portion has room for the longest entry');
      yield this.kernels.bytes.subarray(output, output + size);
      first = next;
    }
  }

  /** How many entries a part has. */
  partCount(part: SeriesPart): number {
    return part === 'series' ? this.nextId : this.kernels.exports.textCountOf(TEXT_KINDS[part]);
  }

  /**
   * Takes over a part that `exportPart` wrote; there must be nothing of it yet, and measurements
   * must have got their numbers. `read` fills linear memory. Throws `CodecError` when the bytes are
   * not those of the checksum (CRC-32C).
   */
  loadPart(
    part: SeriesPart,
    section: { readonly sizeBytes: number; readonly count: number; readonly checksum: number },
    read: (target: Uint8Array) => void,
  ): void {
    const { exports } = this.kernels;
    const { sizeBytes, count, checksum } = section;
    const address = this.kernels.allocate(sizeBytes + SLACK_BYTES);
    read(this.kernels.bytes.subarray(address, address + sizeBytes));
    if (exports.crc32c(address, sizeBytes, 0) >>> 0 !== checksum) {
      throw new CodecError('value', `checksum of ${part}`);
    }
    if (part !== 'series') {
      checkResult(exports.loadTexts(TEXT_KINDS[part], address, sizeBytes, count), part);
      return;
    }
    const measurements = exports.measurementCount();
    checkResult(exports.loadSeriesEntries(address, sizeBytes, count, measurements), part);
  }

  /**
   * Does a part of what the first look-up by key or text would have to do after `loadPart`, a
   * millisecond or two; whether there is more to do.
   */
  prepareSome(): boolean {
    return this.kernels.exports.placeLoaded(ENTRIES_PER_STEP) !== 0;
  }

  get textCount(): number {
    return this.kernels.exports.textCount();
  }

  /** Id of a tag value, or -1. */
  findText(text: Uint8Array): number {
    const address = this.kernels.copyIn(Area.name, text);
    const id = this.kernels.exports.findText(address, text.length) >>> 0;
    return id === NO_ID ? -1 : id;
  }

  /** Bytes of a tag value. A view, valid until the next call. */
  text(id: number): Uint8Array {
    assert(id >= 0 && id < this.textCount, 'text id in range');
    const { exports } = this.kernels;
    const start = exports.textBytes(id) >>> 0;
    return this.kernels.bytes.subarray(start, start + exports.textLength(id));
  }

  /** Tag key of an id that `split` gave. */
  tagKey(id: number): string {
    const { exports } = this.kernels;
    const start = exports.tagKeyBytes(id) >>> 0;
    return this.names.decode(this.kernels.bytes.subarray(start, start + exports.tagKeyLength(id)));
  }
}

const NO_BYTES = new Uint8Array(0);
