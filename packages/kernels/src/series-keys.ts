// The series of one database in linear memory: finds ids of canonical keys, keys of ids, and the
// texts of tags. Keys are stored nowhere else; ingest looks them up here while it parses.
import { assert, escapeMeasurement, Unavailable } from '@tidemark/core';

import { Area, NO_ID, SPLIT_WORDS, TAG_DICTIONARIES } from './abi.gen.ts';
import { checkResult, CodecError } from './codec-error.ts';
import type { Kernels } from './loader.ts';
import { Names } from './names.ts';

/** Keys split into names and symbols; see `SeriesKeys.split`. */
export type SplitSeries = {
  /** Number of series in `words`. */
  readonly count: number;
  /**
   * For each series: number of its measurement (`NO_MEASUREMENT` when there is no such series),
   * number of its tags, and for each tag the ids of its key and value. A view, valid until the next
   * call.
   */
  readonly words: Uint32Array;
};

/** Consecutive series in the encoding of logs; see `SeriesKeys.encodeList`. */
export type SeriesList = {
  readonly bytes: Uint8Array;
  /** Number of entries: series, and gaps of ids without series. */
  readonly count: number;
  readonly firstId: number;
};

/** The tables that a series table consists of. */
export type SeriesPart = 'series' | 'values' | 'keys';

const PORTION_BYTES = 1 << 20;
const ENTRIES_PER_STEP = 1 << 14;
// Comparisons read whole words, and so some bytes after the last entry.
const SLACK_BYTES = 64;

export const NO_MEASUREMENT = NO_ID;

/** Ids are assigned in ascending order and never reused. */
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

  /** Number of series, deleted ones included. */
  get presentCount(): number {
    return this.kernels.exports.seriesPresent();
  }

  has(id: number): boolean {
    return this.kernels.exports.seriesKey(id) !== 0;
  }

  /** Memory of keys, texts and their tables. */
  get memoryBytes(): number {
    const { exports } = this.kernels;
    return (exports.seriesMemory() >>> 0) + (exports.dictionaryMemory() >>> 0);
  }

  /** Number of a measurement, added if it is new. */
  measurementNumber(name: string): number {
    return this.names.measurementNumber(this.names.encode(escapeMeasurement(name)));
  }

  get measurementCount(): number {
    return this.kernels.exports.measurementCount();
  }

  /** Name of a measurement, not escaped. */
  measurementName(number: number): string {
    return this.names.measurement(number);
  }

  /** Id of the series with a canonical key, or -1. */
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

  /** Bytes of the canonical key of a series; 0 when there is none. */
  keyLength(id: number): number {
    return this.kernels.exports.seriesKeyLength(id);
  }

  /** The key without the measurement. A view, valid until the next call. */
  tags(id: number): Uint8Array {
    const { exports } = this.kernels;
    const key = this.key(id);
    if (key.length === 0) return key;
    return key.subarray(exports.measurementNameLength(exports.seriesMeasurement(id)));
  }

  /** Splits the keys of series [first, end): as many as fit the result, at least one. */
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
   * Encodes the ids [first, end) as a list. For a series it has a varint with the id of its
   * measurement (`measurementIds` by number of the measurement), then the length and bytes of its
   * tags; for a gap of ids, 2^32 - 1 and their number. With `leavesDeleted`, deleted series are
   * gaps.
   */
  encodeList(
    first: number,
    end: number,
    options: { readonly measurementIds: Uint32Array; readonly leavesDeleted?: boolean },
  ): Omit<SeriesList, 'firstId'> {
    if (first >= end) return { bytes: NO_BYTES, count: 0 };
    const { measurementIds, leavesDeleted = false } = options;
    const { exports } = this.kernels;
    const ids = this.kernels.copyIn(Area.input, measurementIds);
    const output = this.kernels.scratch(Area.output, exports.seriesListBound(first, end));
    const size = exports.encodeSeriesList(first, end, ids, output, leavesDeleted) >>> 0;
    const bytes = this.kernels.bytes.slice(output, output + size);
    return { bytes, count: exports.listedEntries() };
  }

  /**
   * Adds the series of a list, the first of which has the id `firstId`. Ids that exist are skipped.
   * `numbers` has the number of each measurement by its id in the list. Of two series with the same
   * key, `find` returns the later one. Throws `CodecError` when the bytes are not a list.
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
   * `find` does not return the series any more, so a write of its key creates a new one. `key`
   * still returns its key.
   */
  delete(id: number): void {
    this.kernels.exports.deleteSeries(id);
  }

  /** Undoes `delete`, unless `find` returns another series for the key by now. */
  undelete(id: number): void {
    this.kernels.exports.undeleteSeries(id);
  }

  /**
   * The first `end` entries of a table, in the encoding of `loadPart`. Yields views, each valid
   * until the next is pulled.
   */
  *exportPart(part: SeriesPart, end: number): Generator<Uint8Array> {
    const { exports } = this.kernels;
    for (let first = 0; first < end;) {
      const output = this.kernels.scratch(Area.output, PORTION_BYTES);
      const next =
        part === 'series'
          ? exports.exportSeries(first, end, output, PORTION_BYTES)
          : exports.exportDictionary(TAG_DICTIONARIES[part], first, end, output, PORTION_BYTES);
      const size = part === 'series' ? exports.exportedSeriesBytes() : exports.exportedEntryBytes();
      assert(next > first, 'a portion has room for the longest entry');
      yield this.kernels.bytes.subarray(output, output + size);
      first = next;
    }
  }

  /** Number of entries of a table. */
  partCount(part: SeriesPart): number {
    return part === 'series'
      ? this.nextId
      : this.kernels.exports.dictionaryCount(TAG_DICTIONARIES[part]);
  }

  /**
   * Loads a table that `exportPart` wrote into an empty one. Measurements must have their numbers
   * already. `read` fills linear memory. Throws `CodecError` when the CRC-32C of the bytes differs.
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
      checkResult(exports.loadDictionary(TAG_DICTIONARIES[part], address, sizeBytes, count), part);
      return;
    }
    const measurements = exports.measurementCount();
    checkResult(exports.loadSeriesEntries(address, sizeBytes, count, measurements), part);
  }

  /**
   * After `loadPart`, does a part of what the first look-up would otherwise have to do, in a
   * millisecond or two. Returns whether more is left.
   */
  prepareSome(): boolean {
    return this.kernels.exports.placeLoaded(ENTRIES_PER_STEP) !== 0;
  }

  get symbolCount(): number {
    return this.kernels.exports.symbolCount();
  }

  /** The symbol of a tag value, or -1. */
  findSymbol(text: Uint8Array): number {
    const address = this.kernels.copyIn(Area.name, text);
    const id = this.kernels.exports.findSymbol(address, text.length) >>> 0;
    return id === NO_ID ? -1 : id;
  }

  /** Bytes of a tag value. A view, valid until the next call. */
  symbol(id: number): Uint8Array {
    assert(id >= 0 && id < this.symbolCount, 'symbol in range');
    const { exports } = this.kernels;
    const start = exports.symbolBytes(id) >>> 0;
    return this.kernels.bytes.subarray(start, start + exports.symbolLength(id));
  }

  /** Tag key for an id of `split`. */
  tagKey(id: number): string {
    const { exports } = this.kernels;
    const start = exports.tagKeyBytes(id) >>> 0;
    return this.names.decode(this.kernels.bytes.subarray(start, start + exports.tagKeyLength(id)));
  }
}

const NO_BYTES = new Uint8Array(0);
