// An open segment file: finds the chunks of a series and decodes columns. Everything read from the
// file is verified. Damage throws `Corruption` naming this file, and fails only the request that
// needed the damaged part.
import { assert, Corruption } from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';
import type { CachedColumn, CacheEntries, ColumnCache, TextSearch } from '@tidemark/kernels';

import { NewerFormat } from '../damage.ts';
import { ByteReader, DecodeError } from '../columns/bytes.ts';
import { codecs, crc32c } from '../columns/codecs.ts';
import { noteTexts } from '../columns/thread-heap.ts';
import type { DiskFile } from '../disk/disk.ts';
import { newFieldArray } from '../columns/row-block.ts';
import type { FieldArray } from '../columns/row-block.ts';
import { columnOf, sliceColumn, valuesOf } from '../columns/run.ts';
import { firstBeyond, firstNotBelow } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';
import {
  BLOCK_CHECKSUM_BYTES,
  decodeFooter,
  readSegmentHeader,
  SEGMENT_HEADER_BYTES,
  SEGMENT_TRAILER_BYTES,
  SEGMENT_VERSION,
  versionOfMagic,
} from './format.ts';
import type {
  ChunkMeta,
  ColumnMeta,
  PageMeta,
  SegmentFooter,
  SegmentMeasurement,
} from './format.ts';
import { DirectoryPage } from './directory-page.ts';
import { isLarge, LargeTexts } from './large-texts.ts';
import type { RowPart } from './large-texts.ts';
import type { SegmentCaches } from './segment-caches.ts';
import type { SeriesRange } from './series-ranges.ts';
import { SharedPage } from './shared-page.ts';
import { areFew, validRowsOf } from './valid-rows.ts';

export type SegmentInfo = {
  /** Names the file; never reused. */
  readonly fileId: number;
  /**
   * Orders segments by the time of their writes: where two hold a value of the same field and time,
   * the one in the segment with the larger sequence counts.
   */
  readonly sequence: number;
  readonly level: number;
  readonly sizeBytes: number;
};

/**
 * All rows [from, to) that neighbouring series have in a chunk, by series, then by time: those of
 * one series in a chunk of its own, or those of some that share one.
 */
export type ChunkRows = {
  readonly chunk: ChunkMeta;
  readonly from: number;
  readonly to: number;
  /** Ascending. */
  readonly ids: Uint32Array | readonly SeriesId[];
  /** Where the rows of each series end, counted from `from`. */
  readonly ends: Uint32Array | readonly number[];
};

/** Chunks of one series, or the one that several share, where the rows of each end at `ends`. */
export type PageEntry = {
  readonly series: readonly SeriesId[] | Uint32Array;
  readonly ends: Uint32Array | undefined;
  readonly chunks: readonly ChunkMeta[];
};

export class Segment {
  readonly info: SegmentInfo;
  readonly footer: SegmentFooter;
  readonly footerChecksum: number;
  readonly #file: DiskFile;
  readonly #caches: SegmentCaches;
  readonly #columns: CacheEntries = new Map();
  readonly #measurements = new Map<number, SegmentMeasurement>();

  private constructor(
    info: SegmentInfo,
    parts: {
      readonly file: DiskFile;
      readonly footer: SegmentFooter;
      readonly footerChecksum: number;
      readonly caches: SegmentCaches;
    },
  ) {
    this.info = info;
    this.footer = parts.footer;
    this.footerChecksum = parts.footerChecksum;
    this.#file = parts.file;
    this.#caches = parts.caches;
    for (const measurement of parts.footer.measurements) {
      this.#measurements.set(measurement.measurementId, measurement);
    }
  }

  /**
   * Takes ownership of the file. Throws `Corruption` when header or footer are damaged, and
   * `NewerFormat`.
   */
  static open(info: SegmentInfo, file: DiskFile, caches: SegmentCaches): Segment {
    const size = file.size();
    const damaged = (what: string, offset: number): Corruption =>
      new Corruption(`segment is damaged: ${what}`, { file: file.path, offset });
    if (size < SEGMENT_HEADER_BYTES + SEGMENT_TRAILER_BYTES) throw damaged('too short', size);
    if (size !== info.sizeBytes) {
      throw damaged(`it has ${size} bytes instead of ${info.sizeBytes}`, size);
    }
    const headerBytes = new Uint8Array(SEGMENT_HEADER_BYTES);
    file.read(headerBytes, 0);
    const header = readSegmentHeader(headerBytes);
    // Nothing else of a newer file is known, not even where its trailer begins.
    if (header !== undefined && header.version > SEGMENT_VERSION) {
      throw new NewerFormat(file.path, { version: header.version, newest: SEGMENT_VERSION });
    }
    const trailerAt = size - SEGMENT_TRAILER_BYTES;
    const trailer = new Uint8Array(SEGMENT_TRAILER_BYTES);
    file.read(trailer, trailerAt);
    const reader = new ByteReader(trailer);
    const offset = Number(reader.i64());
    const length = reader.u32();
    const checksum = reader.u32();
    const version = versionOfMagic(reader.i64());
    if (version === undefined || version > SEGMENT_VERSION) throw damaged('no trailer', trailerAt);
    if (offset < SEGMENT_HEADER_BYTES || offset + length !== trailerAt) {
      throw damaged('footer is out of bounds', trailerAt);
    }
    const bytes = new Uint8Array(length);
    file.read(bytes, offset);
    if (crc32c(bytes) !== checksum) throw damaged('footer checksum', offset);
    try {
      const footer = decodeFooter(bytes, version);
      if (header?.version !== version || header.shardId !== footer.shardId) {
        throw damaged('header', 0);
      }
      return new Segment(info, { file, footer, footerChecksum: checksum, caches });
    } catch (error) {
      if (error instanceof DecodeError) throw damaged(error.message, offset);
      throw error;
    }
  }

  get path(): string {
    return this.#file.path;
  }

  measurement(measurementId: number): SegmentMeasurement | undefined {
    return this.#measurements.get(measurementId);
  }

  /**
   * The rows of a series: in chunks of its own, ascending and not overlapping, or in a shared one.
   */
  rowsOf(measurement: SegmentMeasurement, series: SeriesId): readonly ChunkRows[] {
    const { pages } = measurement;
    const meta = pages[firstBeyond(pages.length, (i) => pages[i]!.firstSeries > series) - 1];
    if (meta === undefined) return NO_ROWS;
    const page = this.#page(measurement, meta);
    if (page instanceof SharedPage) return page.rowsWithin(series, series);
    const chunks = this.decoding(meta.offset, () => page.chunks(series));
    this.#caches.pages.resized(meta);
    return chunks?.map((chunk) => ownRows(chunk, series)) ?? NO_ROWS;
  }

  /** The rows of all series in a range, in the order of the series; reads page after page. */
  *rowsWithin(measurement: SegmentMeasurement, range: SeriesRange): Generator<ChunkRows> {
    const { pages } = measurement;
    const first = firstBeyond(pages.length, (i) => pages[i]!.firstSeries > range.from) - 1;
    for (let i = Math.max(0, first); i < pages.length; i++) {
      const meta = pages[i]!;
      if (meta.firstSeries > range.to) return;
      const page = this.#page(measurement, meta);
      if (page instanceof SharedPage) {
        yield* page.rowsWithin(range.from, range.to);
        continue;
      }
      for (const { series, chunks } of this.pageEntries(measurement, meta)) {
        const id = series[0]!;
        if (id < range.from || id > range.to) continue;
        for (const chunk of chunks) yield ownRows(chunk, id);
      }
    }
  }

  /** The page of series that share a chunk. */
  sharedPage(measurement: SegmentMeasurement, meta: PageMeta): SharedPage {
    const page = this.#page(measurement, meta);
    assert(page instanceof SharedPage, 'footers tell shared pages from others');
    return page;
  }

  /** The entries of a directory page, in the order of the series. */
  *pageEntries(measurement: SegmentMeasurement, meta: PageMeta): Generator<PageEntry> {
    const page = this.#page(measurement, meta);
    if (page instanceof SharedPage) {
      yield { series: page.series, ends: page.ends, chunks: [page.chunk] };
      return;
    }
    const entries = page.entries();
    for (;;) {
      const step = this.decoding(meta.offset, () => entries.next());
      if (step.done === true) return;
      const [series, chunks] = step.value;
      yield { series: [series], ends: undefined, chunks };
    }
  }

  #page(measurement: SegmentMeasurement, meta: PageMeta): DirectoryPage | SharedPage {
    const known = this.#caches.pages.get(meta);
    if (known !== undefined) return known;
    const bytes = this.#readBlock(meta.offset, meta.length);
    const { fields } = measurement;
    const page = this.decoding(meta.offset, () =>
      meta.isShared ? SharedPage.decode(bytes, fields) : new DirectoryPage(bytes, meta, fields),
    );
    this.#caches.pages.set(this, meta, page);
    return page;
  }

  /** Times and the wanted columns of a chunk, with one read where most of its bytes are wanted. */
  readChunk(
    measurement: SegmentMeasurement,
    chunk: ChunkMeta,
    columns: readonly (ColumnMeta | undefined)[],
    whole = this.readAhead(chunk, columns),
  ): { readonly times: BigInt64Array; readonly columns: readonly (Column | undefined)[] } {
    return {
      times: this.times(chunk, whole),
      columns: columns.map((column) => column && this.column(measurement, chunk, column, whole)),
    };
  }

  /** The bytes of the chunk when reading them all costs less than one read per block. */
  readAhead(chunk: ChunkMeta, columns: readonly (ColumnMeta | undefined)[]): ReadAhead | undefined {
    let wantedBytes = chunk.timeBytes;
    for (const column of columns) {
      if (column === undefined) continue;
      wantedBytes += column.validBytes + column.valueBytes + BLOCK_CHECKSUM_BYTES;
    }
    const size = chunkEnd(chunk) - chunk.timeOffset;
    const sizeMax = Math.max(READ_AHEAD_BYTES_MAX, columns.length * READ_AHEAD_COLUMN_BYTES);
    if (size > sizeMax || size - wantedBytes > READ_AHEAD_WASTE_BYTES) return undefined;
    const bytes = new Uint8Array(size);
    const count = this.#file.read(bytes, chunk.timeOffset);
    this.#check(count === size, 'chunk is cut off', chunk.timeOffset);
    return { offset: chunk.timeOffset, bytes };
  }

  /**
   * The bytes of the chunk and of what follows it in the file, for readers of consecutive chunks.
   */
  readOn(chunk: ChunkMeta, sizeBytes: number): ReadAhead {
    const offset = chunk.timeOffset;
    const bytes = new Uint8Array(Math.max(sizeBytes, chunkEnd(chunk) - offset));
    return { offset, bytes: bytes.subarray(0, this.#file.read(bytes, offset)) };
  }

  times(chunk: ChunkMeta, whole?: ReadAhead): BigInt64Array {
    const bytes = this.#readBlock(chunk.timeOffset, chunk.timeBytes, whole);
    const times = this.decoding(chunk.timeOffset, () => codecs().decodeTimes(bytes));
    this.#check(times.length === chunk.rows, 'number of times', chunk.timeOffset);
    return times;
  }

  column(
    measurement: SegmentMeasurement,
    chunk: ChunkMeta,
    meta: ColumnMeta,
    whole?: ReadAhead,
  ): Column {
    const column = this.columnPart(measurement, chunk, meta, { from: 0, to: chunk.rows, whole });
    this.#check(column !== undefined, 'a column without values', meta.offset);
    return column!;
  }

  /**
   * Rows of a column; copied, where the arrays of all rows would be larger. `undefined` when none
   * of the rows of a sparse column has a value.
   */
  columnPart(
    measurement: SegmentMeasurement,
    chunk: ChunkMeta,
    meta: ColumnMeta,
    { from, to, whole }: RowPart & { readonly whole: ReadAhead | undefined },
  ): Column | undefined {
    const { offset, validBytes, valueBytes } = meta;
    const field = measurement.fields[meta.field];
    assert(field !== undefined, 'directory pages name existing fields');
    const large = this.largeTexts(measurement, chunk, meta);
    if (large !== undefined) {
      return this.decoding(offset, () => large.column({ from, to }));
    }
    const bytes = this.#readBlock(offset, validBytes + valueBytes, whole);
    const dense = this.decoding(offset, () =>
      codecs().decodeColumn(field.type, bytes.subarray(validBytes)),
    );
    this.#check(valuesOf(dense).length === meta.count, 'number of values', offset);
    if (dense.type === 'string') noteTexts(dense.dictionary);
    const isWhole = to - from === chunk.rows;
    const few = validBytes === 0 ? undefined : this.#validRows(chunk, meta, bytes);
    if (few !== undefined) return spreadFew(dense, few, { from, to });
    if (validBytes === 0) return isWhole ? dense : copyOfRows(dense, from, to);
    const valid = this.decoding(offset, () =>
      codecs().decodeValidity(bytes.subarray(0, validBytes)),
    );
    this.#check(valid.length === chunk.rows, 'number of validity bits', offset);
    return this.#spread(dense, valid, { from, to, offset });
  }

  /**
   * The values of a column of numbers or booleans in which few rows have one, and their rows;
   * `undefined` for other columns.
   */
  fewValues(
    measurement: SegmentMeasurement,
    chunk: ChunkMeta,
    meta: ColumnMeta,
    whole?: ReadAhead,
  ): { readonly rows: Uint32Array; readonly dense: Column } | undefined {
    const { offset, validBytes, valueBytes } = meta;
    const type = measurement.fields[meta.field]?.type;
    if (validBytes === 0 || type === undefined || type === 'string') return undefined;
    // The caller reads other columns itself.
    if (!areFew(meta.count, chunk.rows)) return undefined;
    const bytes = this.#readBlock(offset, validBytes + valueBytes, whole);
    const rows = this.#validRows(chunk, meta, bytes);
    if (rows === undefined) return undefined;
    const block = bytes.subarray(validBytes);
    const dense = this.decoding(offset, () => codecs().decodeColumn(type, block));
    this.#check(valuesOf(dense).length === meta.count, 'number of values', offset);
    return { rows, dense };
  }

  #validRows(chunk: ChunkMeta, meta: ColumnMeta, bytes: Uint8Array): Uint32Array | undefined {
    const { offset, validBytes, count } = meta;
    const few = this.decoding(offset, () => validRowsOf(bytes.subarray(0, validBytes), count));
    if (few === undefined) return undefined;
    this.#check(few.rowCount === chunk.rows, 'number of validity bits', offset);
    return few.rows;
  }

  /**
   * For each row of a column of strings 1 if its text satisfies the search, else 0. Only texts that
   * may satisfy it become strings.
   */
  matchTexts(
    chunk: ChunkMeta,
    meta: ColumnMeta,
    { search, whole }: { readonly search: TextSearch; readonly whole?: ReadAhead | undefined },
  ): Uint8Array {
    const { offset, validBytes, valueBytes } = meta;
    const bytes = this.#readBlock(offset, validBytes + valueBytes, whole);
    const made: string[] = [];
    const accepts = (text: string): boolean => {
      made.push(text);
      return search.accepts(text);
    };
    const dense = this.decoding(offset, () =>
      codecs().matchStrings(bytes.subarray(validBytes), { ...search, accepts }),
    );
    noteTexts(made);
    this.#check(dense.length === meta.count, 'number of values', offset);
    const valid =
      validBytes === 0
        ? undefined
        : this.decoding(offset, () => codecs().decodeValidity(bytes.subarray(0, validBytes)));
    this.#check((valid ?? dense).length === chunk.rows, 'number of validity bits', offset);
    if (valid === undefined) return dense;
    let at = 0;
    for (let row = 0; row < valid.length; row++) if (valid[row] === 1) valid[row] = dense[at++]!;
    this.#check(at === meta.count, 'validity bits', offset);
    return valid;
  }

  /**
   * Some rows of a column of strings, with only their texts: unpacking a block costs far less than
   * making texts of it.
   */
  textsAt(
    chunk: ChunkMeta,
    meta: ColumnMeta,
    { rows, whole }: { readonly rows: Uint32Array; readonly whole?: ReadAhead | undefined },
  ): Column {
    const { offset, validBytes, valueBytes } = meta;
    const bytes = this.#readBlock(offset, validBytes + valueBytes, whole);
    return this.decoding(offset, () => {
      const block = bytes.subarray(validBytes);
      if (validBytes === 0) {
        this.#check(chunk.rows === meta.count, 'number of values', offset);
        return columnOf('string', { ...stringsAt(block, rows), valid: undefined });
      }
      const valid = codecs().decodeValidity(bytes.subarray(0, validBytes));
      this.#check(valid.length === chunk.rows, 'number of validity bits', offset);
      const placeOf = new Uint32Array(valid.length);
      let count = 0;
      for (let row = 0; row < valid.length; row++) if (valid[row] === 1) placeOf[row] = count++;
      this.#check(count === meta.count, 'validity bits', offset);
      const places = rows.filter((row) => valid[row] === 1).map((row) => placeOf[row]!);
      const dense = stringsAt(block, places);
      const chosen = rows.map((row) => valid[row]!);
      let at = 0;
      const values = Uint32Array.from(chosen, (isThere) => (isThere ? dense.values[at++]! : 0));
      const dictionary = dense.dictionary.length === 0 ? [''] : dense.dictionary;
      return columnOf('string', { values, valid: Uint8Array.from(chosen), dictionary });
    });
  }

  /**
   * The texts of a column when they are too many to be decoded at once; `undefined` for all other
   * columns. Its methods throw `DecodeError`: call them in `decoding`.
   */
  largeTexts(
    measurement: SegmentMeasurement,
    chunk: ChunkMeta,
    meta: ColumnMeta,
  ): LargeTexts | undefined {
    const { offset, validBytes, valueBytes, count } = meta;
    if (!mayBeLarge(meta) || measurement.fields[meta.field]?.type !== 'string') {
      return undefined;
    }
    const valuesAt = offset + validBytes;
    const headBytes = Math.min(valueBytes, count * HEAD_BYTES_OF_VALUE + HEAD_BYTES);
    return this.decoding(offset, () => {
      const head = codecs().decodeStringHead(this.#bytesAt(valuesAt, headBytes));
      if (!isLarge(head)) return undefined;
      this.#checkLargeBlock(offset, validBytes + valueBytes);
      this.#check(head.codes.length === count, 'number of values', offset);
      const valid =
        validBytes === 0 ? undefined : codecs().decodeValidity(this.#bytesAt(offset, validBytes));
      this.#check((valid?.length ?? count) === chunk.rows, 'number of validity bits', offset);
      const read = (at: number, length: number): Uint8Array => {
        const left = Math.max(0, valueBytes - head.textsAt - at);
        return this.#bytesAt(valuesAt + head.textsAt + at, Math.min(length, left));
      };
      return new LargeTexts({ head, valid, read });
    });
  }

  /**
   * As `times`, for a shared chunk. Its series are mostly read one after another, so the chunk read
   * last stays decoded.
   */
  sharedTimes(chunk: ChunkMeta): BigInt64Array {
    const last = this.#caches.sharedOf(this, chunk);
    last.times ??= this.times(chunk);
    return last.times;
  }

  /** Rows of a column of a shared chunk; see `sharedTimes`. */
  sharedColumn(
    measurement: SegmentMeasurement,
    { chunk, from, to }: Pick<ChunkRows, 'chunk' | 'from' | 'to'>,
    meta: ColumnMeta,
  ): Column {
    const { columns } = this.#caches.sharedOf(this, chunk);
    let column = columns.get(meta.field);
    if (column === undefined) {
      column = this.largeTexts(measurement, chunk, meta) ?? this.column(measurement, chunk, meta);
      columns.set(meta.field, column);
    }
    if (!(column instanceof LargeTexts)) return sliceColumn(column, from, to);
    const large = column;
    return this.decoding(meta.offset, () => large.column({ from, to }));
  }

  /** The cache of decoded columns, shared with other segments. */
  get columnCache(): ColumnCache {
    return this.#caches.kernels.columns;
  }

  /** The times of a chunk of at most CACHED_ROWS_MAX rows, if they are cached. */
  cachedTimes(chunk: ChunkMeta): CachedColumn | undefined {
    return this.columnCache.get(this.#columns, chunk.timeOffset);
  }

  /** A column without nulls of such a chunk, if it is cached. */
  cachedValues(meta: ColumnMeta): CachedColumn | undefined {
    return this.columnCache.get(this.#columns, meta.offset);
  }

  /** Reads the times of a chunk, and caches them. */
  cacheTimes(chunk: ChunkMeta, whole?: ReadAhead): CachedColumn {
    const { timeOffset: offset, timeBytes, rows } = chunk;
    const block = this.#readBlock(offset, timeBytes, whole);
    const times = this.decoding(offset, () =>
      this.columnCache.add(this.#columns, offset, { type: 'time', block }),
    );
    this.#check(times.count === rows, 'number of times', offset);
    return times;
  }

  /** Reads a column and caches it, without evicting `beside`. */
  cacheValues(
    meta: ColumnMeta,
    source: {
      readonly type: Exclude<FieldType, 'string'>;
      readonly beside: CachedColumn;
      readonly whole: ReadAhead | undefined;
    },
  ): CachedColumn {
    const { offset, validBytes, valueBytes, count } = meta;
    const { type, beside, whole } = source;
    assert(validBytes === 0, 'columns with nulls are not kept');
    const block = this.#readBlock(offset, valueBytes, whole);
    const values = this.decoding(offset, () =>
      this.columnCache.add(this.#columns, offset, { type, block, beside }),
    );
    this.#check(values.count === count, 'number of values', offset);
    return values;
  }

  /** All bytes of a chunk, checksums included, as `SegmentWriter.addRawChunk` takes them. */
  rawChunk(chunk: ChunkMeta): Uint8Array {
    const bytes = new Uint8Array(chunkEnd(chunk) - chunk.timeOffset);
    this.#file.read(bytes, chunk.timeOffset);
    this.#checkBlock(bytes.subarray(0, chunk.timeBytes + BLOCK_CHECKSUM_BYTES), chunk.timeOffset);
    for (const { offset, validBytes, valueBytes } of chunk.columns) {
      const start = offset - chunk.timeOffset;
      const length = validBytes + valueBytes + BLOCK_CHECKSUM_BYTES;
      this.#checkBlock(bytes.subarray(start, start + length), offset);
    }
    return bytes;
  }

  close(): void {
    this.#caches.forget(this);
    this.#file.close();
  }

  #spread(
    dense: Column,
    valid: Uint8Array,
    { from, to, offset }: RowPart & { readonly offset: number },
  ): Column {
    const stored = valuesOf(dense);
    const values = newFieldArray(dense.type, to - from);
    let at = 0;
    for (let i = 0; i < from; i++) at += valid[i]!;
    for (let i = from; i < to; i++)
      if (valid[i] === 1) values[i - from] = stored[at++] ?? stored[0]!;
    for (let i = to; i < valid.length; i++) at += valid[i]!;
    this.#check(at === stored.length, 'validity bits', offset);
    const dictionary = dense.type === 'string' ? dense.dictionary : undefined;
    const ofPart = to - from === valid.length ? valid : valid.slice(from, to);
    return columnOf(dense.type, { values, valid: ofPart, dictionary });
  }

  #readBlock(offset: number, length: number, whole?: ReadAhead): Uint8Array {
    if (whole !== undefined) {
      const start = offset - whole.offset;
      const block = whole.bytes.subarray(start, start + length + BLOCK_CHECKSUM_BYTES);
      this.#check(block.length === length + BLOCK_CHECKSUM_BYTES, 'block is cut off', offset);
      this.#checkBlock(block, offset);
      return block.subarray(0, length);
    }
    const bytes = new Uint8Array(length + BLOCK_CHECKSUM_BYTES);
    const count = this.#file.read(bytes, offset);
    this.#check(count === bytes.length, 'block is cut off', offset);
    this.#checkBlock(bytes, offset);
    return bytes.subarray(0, length);
  }

  /** Bytes of the file, unchecked. */
  #bytesAt(offset: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    const count = this.#file.read(bytes, offset);
    this.#check(count === length, 'block is cut off', offset);
    return bytes;
  }

  /** As `#checkBlock`, piece by piece. */
  #checkLargeBlock(offset: number, length: number): void {
    let crc = 0;
    for (let at = 0; at < length; at += CHECKED_BYTES) {
      crc = crc32c(this.#bytesAt(offset + at, Math.min(CHECKED_BYTES, length - at)), crc);
    }
    const expected = new ByteReader(this.#bytesAt(offset + length, BLOCK_CHECKSUM_BYTES)).u32();
    this.#check(crc === expected, 'block checksum', offset);
  }

  #checkBlock(bytes: Uint8Array, offset: number): void {
    const length = bytes.length - BLOCK_CHECKSUM_BYTES;
    const expected = new ByteReader(bytes, length).u32();
    this.#check(crc32c(bytes.subarray(0, length)) === expected, 'block checksum', offset);
  }

  #check(condition: boolean, what: string, offset: number): void {
    if (!condition) {
      throw new Corruption(`segment is damaged: ${what}`, { file: this.path, offset });
    }
  }

  /** Runs a decoder of the bytes at `offset`; its `DecodeError` becomes `Corruption`. */
  decoding<T>(offset: number, decode: () => T): T {
    try {
      return decode();
    } catch (cause) {
      const isDamage = cause instanceof DecodeError || (cause as Error).name === 'CodecError';
      if (!isDamage) throw cause;
      const { message } = cause as Error;
      throw new Corruption(`segment is damaged: ${message}`, { file: this.path, offset });
    }
  }
}

/** The rows [from, to) of a column with values in the given rows of its chunk. */
function spreadFew(dense: Column, rows: Uint32Array, { from, to }: RowPart): Column | undefined {
  const first = firstNotBelow(rows, from);
  if (first === rows.length || rows[first]! >= to) return undefined;
  const stored = valuesOf(dense);
  const values = newFieldArray(dense.type, to - from);
  const valid = new Uint8Array(to - from);
  for (let at = first; at < rows.length && rows[at]! < to; at++) {
    const row = rows[at]! - from;
    values[row] = stored[at]!;
    valid[row] = 1;
  }
  const dictionary = dense.type === 'string' ? dense.dictionary : undefined;
  return columnOf(dense.type, { values, valid, dictionary });
}

function copyOfRows(dense: Column, from: number, to: number): Column {
  const dictionary = dense.type === 'string' ? dense.dictionary : undefined;
  const values = valuesOf(dense).slice(from, to) as FieldArray;
  return columnOf(dense.type, { values, valid: undefined, dictionary });
}

function stringsAt(
  block: Uint8Array,
  places: Uint32Array,
): { readonly values: Uint32Array; readonly dictionary: readonly string[] } {
  const { codes, dictionary } = codecs().decodeStringsAt(block, places);
  noteTexts(dictionary);
  return { values: codes, dictionary };
}

/** Bytes of a chunk that were read at once. */
export type ReadAhead = { readonly offset: number; readonly bytes: Uint8Array };

/** Whether bytes that were read ahead contain the whole chunk. */
export function holdsChunk({ offset, bytes }: ReadAhead, chunk: ChunkMeta): boolean {
  return chunk.timeOffset >= offset && chunkEnd(chunk) <= offset + bytes.length;
}

/** A smaller block of strings is decoded at once, whatever its contents. */
const LARGE_BLOCK_BYTES = 256 << 10;

/** Whether a column, if it has texts, may have too many to be decoded at once. */
export function mayBeLarge({ valueBytes }: ColumnMeta): boolean {
  return valueBytes >= LARGE_BLOCK_BYTES;
}

/** Size of the head of such a block: at most two numbers for each value, and counts. */
const HEAD_BYTES_OF_VALUE = 20;
const HEAD_BYTES = 256;
const CHECKED_BYTES = 1 << 20;

/** One more read costs about as much as reading this many unneeded bytes. */
const READ_AHEAD_WASTE_BYTES = 16 << 10;
/**
 * Blocks of larger chunks are read one by one: a condition often makes reading the largest of them
 * unnecessary.
 */
const READ_AHEAD_BYTES_MAX = 256 << 10;
/** Chunks with very many columns are read at once if the columns are this small on average. */
const READ_AHEAD_COLUMN_BYTES = 1 << 10;

function chunkEnd(chunk: ChunkMeta): number {
  const last = chunk.columns.at(-1);
  const end =
    last === undefined
      ? chunk.timeOffset + chunk.timeBytes
      : last.offset + last.validBytes + last.valueBytes;
  return end + BLOCK_CHECKSUM_BYTES;
}

const NO_ROWS: readonly ChunkRows[] = [];

function ownRows(chunk: ChunkMeta, series: SeriesId): ChunkRows {
  return { chunk, from: 0, to: chunk.rows, ids: [series], ends: [chunk.rows] };
}
