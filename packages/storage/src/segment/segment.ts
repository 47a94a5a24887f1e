// An open segment file: finds the chunks of a series and decodes columns. Everything read from the
// file is verified. Damage throws `Corruption` naming this file, and fails only the request that
// needed the damaged part.
import { assert, Corruption } from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';
import { CACHED_ROWS_MAX, FRAMED_READ_BYTES } from '@tidemark/kernels';
import type { CachedColumn, CacheEntries, ColumnCache } from '@tidemark/kernels';

import { NewerFormat } from '../damage.ts';
import { ByteReader, DecodeError } from '../columns/bytes.ts';
import { codecs, crc32c } from '../columns/codecs.ts';
import { noteTexts } from '../columns/thread-heap.ts';
import type { DiskFile } from '../disk/disk.ts';
import { sliceColumn, valuesOf } from '../columns/run.ts';
import { firstBeyond } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';
import {
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
import { SegmentBlocks } from './segment-blocks.ts';
import type { ReadAhead } from './segment-blocks.ts';
import { SharedPage } from './shared-page.ts';
import { copyOfRows, spread, spreadFew } from './spread.ts';
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
  readonly blocks: SegmentBlocks;
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
    this.blocks = new SegmentBlocks(parts.file);
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
    return this.blocks.path;
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
    const chunks = this.blocks.decoding(meta.offset, () => page.chunks(series));
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
      const step = this.blocks.decoding(meta.offset, () => entries.next());
      if (step.done === true) return;
      const [series, chunks] = step.value;
      yield { series: [series], ends: undefined, chunks };
    }
  }

  #page(measurement: SegmentMeasurement, meta: PageMeta): DirectoryPage | SharedPage {
    const known = this.#caches.pages.get(meta);
    if (known !== undefined) return known;
    const bytes = this.blocks.read(meta.offset, meta.length);
    const { fields } = measurement;
    const page = this.blocks.decoding(meta.offset, () =>
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
    whole = this.blocks.readAhead(chunk, columns),
  ): { readonly times: BigInt64Array; readonly columns: readonly (Column | undefined)[] } {
    return {
      times: this.times(chunk, whole),
      columns: columns.map((column) => column && this.column(measurement, chunk, column, whole)),
    };
  }

  times(chunk: ChunkMeta, whole?: ReadAhead): BigInt64Array {
    const bytes = this.blocks.view(chunk.timeOffset, chunk.timeBytes, whole);
    const times = this.blocks.decoding(chunk.timeOffset, () => codecs().decodeTimes(bytes));
    this.blocks.check(times.length === chunk.rows, 'number of times', chunk.timeOffset);
    return times;
  }

  column(
    measurement: SegmentMeasurement,
    chunk: ChunkMeta,
    meta: ColumnMeta,
    whole?: ReadAhead,
  ): Column {
    const column = this.columnPart(measurement, chunk, meta, { from: 0, to: chunk.rows, whole });
    this.blocks.check(column !== undefined, 'a column without values', meta.offset);
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
      return this.blocks.decoding(offset, () => large.column({ from, to }));
    }
    const bytes = this.blocks.view(offset, validBytes + valueBytes, whole);
    const dense = this.blocks.decoding(offset, () =>
      codecs().decodeColumn(field.type, bytes.subarray(validBytes)),
    );
    this.blocks.check(valuesOf(dense).length === meta.count, 'number of values', offset);
    if (dense.type === 'string') noteTexts(dense.texts);
    const isWhole = to - from === chunk.rows;
    const few = validBytes === 0 ? undefined : this.#validRows(chunk, meta, bytes);
    if (few !== undefined) return spreadFew(dense, few, { from, to });
    if (validBytes === 0) return isWhole ? dense : copyOfRows(dense, from, to);
    const valid = this.blocks.decoding(offset, () =>
      codecs().decodeValidity(bytes.subarray(0, validBytes)),
    );
    this.blocks.check(valid.length === chunk.rows, 'number of validity bits', offset);
    const column = spread(dense, valid, { from, to });
    this.blocks.check(column !== undefined, 'validity bits', offset);
    return column;
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
    const bytes = this.blocks.view(offset, validBytes + valueBytes, whole);
    const rows = this.#validRows(chunk, meta, bytes);
    if (rows === undefined) return undefined;
    const block = bytes.subarray(validBytes);
    const dense = this.blocks.decoding(offset, () => codecs().decodeColumn(type, block));
    this.blocks.check(valuesOf(dense).length === meta.count, 'number of values', offset);
    return { rows, dense };
  }

  #validRows(chunk: ChunkMeta, meta: ColumnMeta, bytes: Uint8Array): Uint32Array | undefined {
    const { offset, validBytes, count } = meta;
    const few = this.blocks.decoding(offset, () =>
      validRowsOf(bytes.subarray(0, validBytes), count),
    );
    if (few === undefined) return undefined;
    this.blocks.check(few.rowCount === chunk.rows, 'number of validity bits', offset);
    return few.rows;
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
    return this.blocks.decoding(offset, () => {
      // In frames, there are never that many: nothing else of them is read.
      if (codecs().texts.areFramed(this.blocks.bytesAt(valuesAt, FRAMED_READ_BYTES)))
        return undefined;
      const head = codecs().texts.decodeHead(this.blocks.bytesAt(valuesAt, headBytes));
      if (!isLarge(head)) return undefined;
      this.blocks.checkLarge(offset, validBytes + valueBytes);
      this.blocks.check(head.codes.length === count, 'number of values', offset);
      const valid =
        validBytes === 0
          ? undefined
          : codecs().decodeValidity(this.blocks.bytesAt(offset, validBytes));
      this.blocks.check((valid?.length ?? count) === chunk.rows, 'number of validity bits', offset);
      const read = (at: number, length: number): Uint8Array => {
        const left = Math.max(0, valueBytes - head.textsAt - at);
        return this.blocks.bytesAt(valuesAt + head.textsAt + at, Math.min(length, left));
      };
      return new LargeTexts({ head, valid, read });
    });
  }

  /**
   * Times of some rows of a shared chunk. All of it is cached: its series are mostly read one after
   * another, and deletes look at few series of very many chunks again and again.
   */
  sharedTimes({ chunk, from, to }: Pick<ChunkRows, 'chunk' | 'from' | 'to'>): BigInt64Array {
    if (chunk.rows <= CACHED_ROWS_MAX) {
      const cached = this.cachedTimes(chunk) ?? this.cacheTimes(chunk);
      return this.columnCache.times(cached, { from, to });
    }
    const last = this.#caches.sharedOf(this, chunk);
    last.times ??= this.times(chunk);
    return last.times.subarray(from, to);
  }

  /** Rows of a column of a shared chunk, of which the one that was read last stays decoded. */
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
    return this.blocks.decoding(meta.offset, () => large.column({ from, to }));
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
    const block = this.blocks.view(offset, timeBytes, whole);
    const times = this.blocks.decoding(offset, () =>
      this.columnCache.add(this.#columns, offset, { type: 'time', block }),
    );
    this.blocks.check(times.count === rows, 'number of times', offset);
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
    const block = this.blocks.view(offset, valueBytes, whole);
    const values = this.blocks.decoding(offset, () =>
      this.columnCache.add(this.#columns, offset, { type, block, beside }),
    );
    this.blocks.check(values.count === count, 'number of values', offset);
    return values;
  }

  close(): void {
    this.#caches.forget(this);
    this.blocks.close();
  }
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

const NO_ROWS: readonly ChunkRows[] = [];

function ownRows(chunk: ChunkMeta, series: SeriesId): ChunkRows {
  return { chunk, from: 0, to: chunk.rows, ids: [series], ends: [chunk.rows] };
}
