// The bytes of segment files (docs/formats/segment.md): directory entries, footer, and what both
// sides agree on.
import { FIELD_TYPES } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import { BLOCK_VALUES_MAX } from '@tidemark/kernels';

import { ByteReader, ByteWriter, DecodeError } from '../columns/bytes.ts';
import { codecs, crc32c, decoding } from '../columns/codecs.ts';
import type { SeriesId } from '../columns/series-id.ts';

/** The version that is written; those before it are read. */
export const SEGMENT_VERSION = 4;
/** Oldest version that is read. */
const OLDEST_VERSION = 1;

/** "TDMSEG" little-endian, then the version in the upper 16 bits. */
export function segmentMagic(version: number): bigint {
  return 0x4745534d4454n | (BigInt(version) << 48n);
}

/**
 * The version of a file by its magic; `undefined` when that is no segment's. It may be newer than
 * what this program reads.
 */
export function versionOfMagic(magic: bigint): number | undefined {
  const version = Number(BigInt.asUintN(64, magic) >> 48n);
  const isKnown = version >= OLDEST_VERSION && BigInt.asIntN(64, segmentMagic(version)) === magic;
  return isKnown ? version : undefined;
}

export const SEGMENT_HEADER_BYTES = 16;
/** Footer offset (8), footer length (4), footer checksum (4), magic (8). */
export const SEGMENT_TRAILER_BYTES = 24;
/**
 * Rows per chunk at most: one hour at one point per second, and small enough that reading a part is
 * cheap.
 */
export const MAX_CHUNK_ROWS = 4096;
/** Values of a chunk at most: some twenty megabytes, decoded. */
export const CHUNK_VALUES_MAX = 1 << 21;
/** With more fields, not all rows of a chunk may have all of them. */
export const WIDE_FIELDS = CHUNK_VALUES_MAX / MAX_CHUNK_ROWS;
/** In a chunk with all fields, the column is at the field's own index. */
export const MIN_STATISTICS_ROWS = 32;
/** A directory page is closed when it is longer than this. */
export const DIRECTORY_PAGE_BYTES = 16 << 10;

/**
 * Maximal rows per chunk, for rows with so many values together: fewer where decoding a chunk of
 * them would fill the memory.
 */
export function chunkRowsMax(rows: number, values: number): number {
  const fitting = Math.floor((CHUNK_VALUES_MAX * rows) / Math.max(1, values));
  return Math.min(MAX_CHUNK_ROWS, Math.max(MIN_STATISTICS_ROWS, fitting));
}

export type NumericStatistics = {
  readonly min: number | bigint;
  readonly max: number | bigint;
  readonly sum: number | bigint;
  readonly first: number | bigint;
  readonly last: number | bigint;
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly firstTime: bigint;
  readonly lastTime: bigint;
};

/**
 * One column of a chunk: two blocks one after another, the validity (if any value is null) and
 * the values.
 */
export type ColumnMeta = {
  /** Index into the measurement's fields. */
  readonly field: number;
  /** Values that are not null. */
  readonly count: number;
  readonly offset: number;
  readonly validBytes: number;
  readonly valueBytes: number;
  readonly statistics: NumericStatistics | undefined;
};

export type ChunkMeta = {
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly rows: number;
  readonly timeOffset: number;
  readonly timeBytes: number;
  readonly columns: readonly ColumnMeta[];
};

export type SegmentField = { readonly name: string; readonly type: FieldType };

/** Where the directory entries of some consecutive series are. */
export type PageMeta = {
  /** The series share one chunk (`shared-page.ts`). */
  readonly isShared: boolean;
  readonly firstSeries: SeriesId;
  readonly offset: number;
  readonly length: number;
};

export type SegmentMeasurement = {
  readonly measurementId: number;
  readonly fields: readonly SegmentField[];
  /** Strictly increasing. */
  readonly series: Uint32Array;
  readonly pages: readonly PageMeta[];
  readonly rows: number;
};

export type SegmentFooter = {
  readonly shardId: number;
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly measurements: readonly SegmentMeasurement[];
};

/** Bytes behind every block: its CRC-32C. */
export const BLOCK_CHECKSUM_BYTES = 4;

const HAS_NULLS = 1;
const HAS_STATISTICS = 2;

/**
 * Appends a directory entry. Blocks of a page lie one after another, so entries hold lengths
 * only.
 */
export function writeEntry(
  out: ByteWriter,
  entry: { readonly seriesDelta: number; readonly chunks: readonly ChunkMeta[] },
  fields: readonly SegmentField[],
): void {
  out.varint(entry.seriesDelta);
  out.varint(entry.chunks.length);
  for (const chunk of entry.chunks) writeChunkMeta(out, chunk, fields);
}

/** One chunk of an entry. */
export function writeChunkMeta(
  out: ByteWriter,
  chunk: ChunkMeta,
  fields: readonly SegmentField[],
): void {
  out.i64(chunk.minTime);
  out.varint64(chunk.maxTime - chunk.minTime);
  out.varint(chunk.rows);
  out.varint(chunk.timeBytes);
  out.varint(chunk.columns.length);
  for (const column of chunk.columns) writeColumn(out, chunk, column, fields);
}

function writeColumn(
  out: ByteWriter,
  chunk: ChunkMeta,
  column: ColumnMeta,
  fields: readonly SegmentField[],
): void {
  const hasNulls = column.validBytes > 0;
  const { statistics } = column;
  out.varint(column.field);
  out.u8((hasNulls ? HAS_NULLS : 0) | (statistics === undefined ? 0 : HAS_STATISTICS));
  if (hasNulls) {
    out.varint(column.count);
    out.varint(column.validBytes);
  }
  out.varint(column.valueBytes);
  if (statistics === undefined) return;
  const type = fields[column.field]?.type ?? 'float';
  const { min, max, sum, first, last } = statistics;
  for (const value of [min, max, sum, first, last]) writeNumber(out, type, value);
  out.varint64(statistics.minTime - chunk.minTime);
  out.varint64(statistics.maxTime - chunk.minTime);
  if (!hasNulls) return;
  out.varint64(statistics.firstTime - chunk.minTime);
  out.varint64(chunk.maxTime - statistics.lastTime);
}

function writeNumber(out: ByteWriter, type: FieldType, value: number | bigint): void {
  if (type === 'float') out.f64(Number(value));
  else out.varint64(BigInt.asIntN(64, BigInt(value)));
}

function readNumber(reader: ByteReader, type: FieldType): number | bigint {
  if (type === 'float') return reader.f64();
  const value = reader.varint64();
  return type === 'unsigned' ? BigInt.asUintN(64, value) : value;
}

/**
 * Offset in the file of the next block. Blocks of a page's entries follow each other, so that
 * entries only hold lengths.
 */
export type BlockCursor = { offset: number };

/**
 * Reads the chunks of an entry, after its series. Reader and cursor are at the next entry
 * afterwards.
 */
export function readChunks(
  reader: ByteReader,
  cursor: BlockCursor,
  fields: readonly SegmentField[],
): ChunkMeta[] {
  const chunks: ChunkMeta[] = [];
  for (let n = reader.count(8); n > 0; n--) chunks.push(readChunkMeta(reader, cursor, fields));
  return chunks;
}

/** As `readChunks`, but creates no objects. */
export function skipChunks(
  reader: ByteReader,
  cursor: BlockCursor,
  fields: readonly SegmentField[],
): void {
  for (let n = reader.count(8); n > 0; n--) {
    reader.skip(8); // minTime
    reader.skipVarint(); // duration
    reader.skipVarint(); // rows
    cursor.offset += reader.varint() + BLOCK_CHECKSUM_BYTES;
    for (let m = reader.count(3); m > 0; m--) skipColumn(reader, cursor, fields);
  }
}

function skipColumn(
  reader: ByteReader,
  cursor: BlockCursor,
  fields: readonly SegmentField[],
): void {
  const type = fields[reader.varint()]?.type;
  if (type === undefined) throw new DecodeError('field out of range');
  const flags = reader.u8();
  const hasNulls = (flags & HAS_NULLS) !== 0;
  if (hasNulls) {
    reader.skipVarint(); // count
    cursor.offset += reader.varint();
  }
  cursor.offset += reader.varint() + BLOCK_CHECKSUM_BYTES;
  if ((flags & HAS_STATISTICS) === 0) return;
  // min, max, sum, first, last; then their times.
  if (type === 'float') reader.skip(5 * 8);
  else for (let n = 5; n > 0; n--) reader.skipVarint();
  for (let n = hasNulls ? 4 : 2; n > 0; n--) reader.skipVarint();
}

/** Reads what `writeChunkMeta` wrote. */
export function readChunkMeta(
  reader: ByteReader,
  cursor: BlockCursor,
  fields: readonly SegmentField[],
): ChunkMeta {
  const minTime = reader.i64();
  const maxTime = minTime + reader.varint64();
  const rows = reader.varint();
  const timeBytes = reader.varint();
  const timeOffset = cursor.offset;
  cursor.offset += timeBytes + BLOCK_CHECKSUM_BYTES;
  const columns: ColumnMeta[] = [];
  const chunk = { minTime, maxTime, rows, timeOffset, timeBytes, columns };
  for (let n = reader.count(3); n > 0; n--) columns.push(readColumn(reader, cursor, chunk, fields));
  return chunk;
}

function readColumn(
  reader: ByteReader,
  cursor: BlockCursor,
  chunk: ChunkMeta,
  fields: readonly SegmentField[],
): ColumnMeta {
  const field = reader.varint();
  const type = fields[field]?.type;
  if (type === undefined) throw new DecodeError('field out of range');
  const flags = reader.u8();
  const hasNulls = (flags & HAS_NULLS) !== 0;
  const count = hasNulls ? reader.varint() : chunk.rows;
  const validBytes = hasNulls ? reader.varint() : 0;
  const valueBytes = reader.varint();
  const offset = cursor.offset;
  cursor.offset += validBytes + valueBytes + BLOCK_CHECKSUM_BYTES;
  const hasStatistics = (flags & HAS_STATISTICS) !== 0;
  const statistics = hasStatistics ? readStatistics(reader, chunk, type, hasNulls) : undefined;
  return { field, count, offset, validBytes, valueBytes, statistics };
}

function readStatistics(
  reader: ByteReader,
  chunk: ChunkMeta,
  type: FieldType,
  hasNulls: boolean,
): NumericStatistics {
  const min = readNumber(reader, type);
  const max = readNumber(reader, type);
  const sum = readNumber(reader, type);
  const first = readNumber(reader, type);
  const last = readNumber(reader, type);
  const minTime = chunk.minTime + reader.varint64();
  const maxTime = chunk.minTime + reader.varint64();
  const firstTime = hasNulls ? chunk.minTime + reader.varint64() : chunk.minTime;
  const lastTime = hasNulls ? chunk.maxTime - reader.varint64() : chunk.maxTime;
  return { min, max, sum, first, last, minTime, maxTime, firstTime, lastTime };
}

/** `partSeries`: ids that one block holds; a measurement with more of them is listed in parts. */
export function encodeFooter(
  footer: SegmentFooter,
  partSeries = BLOCK_VALUES_MAX.value,
): Uint8Array {
  const parts = footer.measurements.flatMap((measurement) => partsOf(measurement, partSeries));
  const out = new ByteWriter(1 << 10);
  out.varint(footer.shardId);
  out.i64(footer.minTime);
  out.i64(footer.maxTime);
  out.varint(parts.length);
  for (const measurement of parts) {
    out.varint(measurement.measurementId);
    out.varint(measurement.rows);
    out.varint(measurement.fields.length);
    for (const { name, type } of measurement.fields) {
      out.text(name);
      out.u8(FIELD_TYPES.indexOf(type));
    }
    out.block(codecs().encodeIds(measurement.series, 'small'));
    out.varint(measurement.pages.length);
    for (const page of measurement.pages) {
      out.u8(page.isShared ? 1 : 0);
      out.varint(page.firstSeries);
      out.varint(page.offset);
      out.varint(page.length);
    }
  }
  return out.finish();
}

/** The first part has everything but the ids of the further parts. */
function partsOf(measurement: SegmentMeasurement, partSeries: number): SegmentMeasurement[] {
  const { measurementId, series } = measurement;
  const parts = [{ ...measurement, series: series.subarray(0, partSeries) }];
  for (let from = partSeries; from < series.length; from += partSeries) {
    const part = series.subarray(from, from + partSeries);
    parts.push({ measurementId, rows: 0, fields: [], pages: [], series: part });
  }
  return parts;
}

function joinSeries(first: Uint32Array, second: Uint32Array): Uint32Array {
  const joined = new Uint32Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

/** Pages of shared chunks exist from this version on. */
const SHARED_VERSION = 2;

export function decodeFooter(bytes: Uint8Array, version = SEGMENT_VERSION): SegmentFooter {
  const reader = new ByteReader(bytes);
  const shardId = reader.varint();
  const minTime = reader.i64();
  const maxTime = reader.i64();
  const measurements: SegmentMeasurement[] = [];
  // Most measurements with made-up names have the same single field: its list is stored once.
  const known = new Map<string, readonly SegmentField[]>();
  const oneOf = (fields: readonly SegmentField[]): readonly SegmentField[] => {
    if (fields.length !== 1) return fields;
    const key = `${fields[0]!.type} ${fields[0]!.name}`;
    const same = known.get(key);
    if (same === undefined) known.set(key, fields);
    return same ?? fields;
  };
  for (let n = reader.count(4); n > 0; n--) {
    const measurementId = reader.varint();
    const rows = reader.varint();
    const fields = oneOf(
      listOf(reader.count(2), (): SegmentField => {
        const name = reader.text();
        const type = FIELD_TYPES[reader.u8()];
        if (type === undefined) throw new DecodeError('unknown field type');
        return { name, type };
      }),
    );
    const series = decoding((c) => c.decodeIds(reader.block()));
    const pages = listOf(reader.count(3), (): PageMeta => ({
      isShared: version >= SHARED_VERSION && reader.u8() === 1,
      firstSeries: reader.varint(),
      offset: reader.varint(),
      length: reader.varint(),
    }));
    const previous = measurements.at(-1);
    if (previous?.measurementId !== measurementId) {
      measurements.push({ measurementId, rows, fields, series, pages });
      continue;
    }
    if (fields.length > 0 || pages.length > 0) throw new DecodeError('measurement is there twice');
    measurements.pop();
    measurements.push({ ...previous, series: joinSeries(previous.series, series) });
  }
  return { shardId, minTime, maxTime, measurements };
}

/** Reads a list. One element becomes a literal, because a growing array has room for 17. */
function listOf<T>(count: number, read: () => T): T[] {
  if (count === 1) return [read()];
  const list: T[] = [];
  for (let n = count; n > 0; n--) list.push(read());
  return list;
}

/** The header of a file when its checksum is right. */
export function readSegmentHeader(
  header: Uint8Array,
): { readonly version: number; readonly shardId: number } | undefined {
  const reader = new ByteReader(header);
  const version = versionOfMagic(reader.i64());
  const shardId = reader.u32();
  const isSound = reader.u32() === crc32c(header.subarray(0, SEGMENT_HEADER_BYTES - 4));
  return isSound && version !== undefined ? { version, shardId } : undefined;
}

export function segmentHeader(shardId: number, version = SEGMENT_VERSION): Uint8Array {
  const out = new ByteWriter(SEGMENT_HEADER_BYTES);
  out.i64(segmentMagic(version));
  out.u32(shardId);
  const whole = new ByteWriter(SEGMENT_HEADER_BYTES);
  const head = out.finish();
  whole.raw(head);
  whole.u32(crc32c(head));
  return whole.finish();
}
