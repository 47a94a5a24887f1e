// Writes a segment file: chunks in the order in which they come, each directory page after the
// chunks that it describes, then the footer. The file may be used after `finish`, which syncs it;
// the caller makes its name durable.
import { assert, MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { Column } from '@tidemark/core';

import { ByteWriter } from '../columns/bytes.ts';
import { codecs, crc32c } from '../columns/codecs.ts';
import type { Disk, DiskFile } from '../disk/disk.ts';
import { countValid } from '../columns/presence.ts';
import { columnOf, sliceRun, runStart, valuesOf } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import {
  CHUNK_TEXT_BYTES,
  cutByTexts,
  TEXT_PART_BYTES,
  textsOfRows,
} from '../columns/run-texts.ts';
import { timeBoundsOf } from '../columns/row-order.ts';
import { concatSeriesRows, sliceSeriesRows, runsBySeries } from '../columns/series-rows.ts';
import type { SeriesRows, SeriesRuns } from '../columns/series-rows.ts';
import { finish } from '../schedule/steps.ts';
import { newFieldArray } from '../columns/row-block.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { Uint32List } from '../columns/uint32-list.ts';
import {
  chunkRowsMax,
  DIRECTORY_PAGE_BYTES,
  encodeFooter,
  MIN_STATISTICS_ROWS,
  SEGMENT_HEADER_BYTES,
  SEGMENT_VERSION,
  segmentHeader,
  segmentMagic,
  WIDE_FIELDS,
  writeEntry,
} from './format.ts';
import type {
  ChunkMeta,
  ColumnMeta,
  PageMeta,
  SegmentField,
  SegmentMeasurement,
} from './format.ts';
import { ColumnStatistics } from './column-statistics.ts';
import { encodeSharedPage, SHARED_CHUNK_ROWS, SHARED_SERIES_MIN } from './shared-page.ts';

const WRITE_BUFFER_BYTES = 256 << 10;
/** Room beyond a full buffer for one more block, which is enough for most. */
const BLOCK_ROOM_BYTES = 64 << 10;

/** Columns that are written between two pauses, where a chunk is written in steps. */
const STEP_COLUMNS = 16;

/** A chunk copied from another segment without decoding its blocks. */
export type RawChunk = { readonly meta: ChunkMeta; readonly bytes: Uint8Array };

export class SegmentWriter {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #file: DiskFile;
  readonly #shardId: number;
  readonly #measurements: SegmentMeasurement[] = [];
  readonly #buffer = new ByteWriter(WRITE_BUFFER_BYTES + BLOCK_ROOM_BYTES);
  readonly #statistics = new ColumnStatistics();
  #bufferOffset = 0;
  #minTime = MAX_INT64;
  #maxTime = MIN_INT64;

  // State of the measurement that is being written.
  #fields: readonly SegmentField[] = [];
  #hasTexts = false;
  #measurementId = -1;
  readonly #series = new Uint32List();
  #pages: PageMeta[] = [];
  #rows = 0;
  readonly #page = new ByteWriter(DIRECTORY_PAGE_BYTES);
  #pageFirst = 0;
  #pageLast = 0;
  #chunks: ChunkMeta[] = [];
  /** Series that wait for others to share a chunk with, and their rows. */
  #short: SeriesRows[] = [];
  #shortRows = 0;
  #shortTextBytes = 0;

  constructor(disk: Disk, path: string, shardId: number) {
    this.#disk = disk;
    this.#path = path;
    this.#shardId = shardId;
    this.#file = disk.open(path, 'create');
    this.#buffer.raw(segmentHeader(shardId));
  }

  get bytesWritten(): number {
    return this.#bufferOffset + this.#buffer.length;
  }

  /** Measurements may come in any order, each once. */
  beginMeasurement(measurementId: number, fields: readonly SegmentField[]): void {
    assert(this.#measurementId < 0, 'the previous measurement is ended');
    this.#measurementId = measurementId;
    this.#fields = fields;
    this.#hasTexts = fields.some(({ type }) => type === 'string');
    this.#series.clear();
    this.#pages = [];
    this.#rows = 0;
  }

  /**
   * Rows of the present series: strictly ascending and after all that it has so far. Columns as
   * `fields`.
   */
  addRun(run: Run): void {
    finish(this.addRunInSteps(run));
  }

  /** As `addRun`, pausing after each chunk. */
  *addRunInSteps(run: Run): Generator<undefined, void> {
    this.#endShort();
    const { length } = run.times;
    const isWide = this.#fields.length > WIDE_FIELDS;
    const values = isWide ? valuesIn(run) : length * this.#fields.length;
    // Even parts: 4,100 rows become two chunks of 2,050, not one full and one of four rows.
    const parts = Math.ceil(length / chunkRowsMax(length, values));
    for (let i = 0; i < parts; i++) {
      const start = Math.floor((length * i) / parts);
      const end = Math.floor((length * (i + 1)) / parts);
      for (const part of cutByTexts(sliceRun(run, start, end), CHUNK_TEXT_BYTES)) {
        this.#chunks.push(this.#writeChunk(part));
        yield undefined;
      }
    }
  }

  /**
   * Writes one chunk of the present series, making its columns one by one, or taking them as blocks
   * without nulls; at most as many rows as `chunkRowsMax` allows. Pauses after every few columns.
   */
  *addColumnsInSteps(
    times: BigInt64Array,
    columnAt: (field: number) => Column | Uint8Array | undefined,
  ): Generator<undefined, void> {
    this.#endShort();
    this.#chunks.push(yield* this.#writeColumns(times, columnAt));
  }

  /** As `addSeriesRowsInSteps`, at once. */
  addSeriesRows(rows: SeriesRows): void {
    finish(this.addSeriesRowsInSteps(rows));
  }

  /**
   * Adds all rows of some series, after those that were added before; `runs` says where those of
   * each are. Series with few rows wait until there are enough of them for a shared chunk. Pauses
   * after each chunk.
   */
  *addSeriesRowsInSteps(
    rows: SeriesRows,
    { ids, ends }: SeriesRuns = runsBySeries(rows.series),
  ): Generator<undefined, void> {
    for (let first = 0; first < ids.length;) {
      const next = this.#endOfShort(rows, ends, first);
      const start = runStart(ends, first);
      if (next > first) {
        yield* this.#addShort(sliceSeriesRows(rows, start, ends[next - 1]!));
        first = next;
        continue;
      }
      yield* this.addRunInSteps(sliceRun(rows, start, ends[first]!));
      this.endSeries(ids[first++]!);
    }
  }

  /** From `first` on, the first series that has too many rows or texts to share a chunk. */
  #endOfShort(run: Run, ends: Uint32Array, first: number): number {
    for (let i = first, start = runStart(ends, first); i < ends.length; i++) {
      const end = ends[i]!;
      if (end - start >= MIN_STATISTICS_ROWS) return i;
      if (this.#textsOf(run, start, end) > TEXT_PART_BYTES) return i;
      start = end;
    }
    return ends.length;
  }

  #textsOf(run: Run, start: number, end: number): number {
    return this.#hasTexts ? textsOfRows(run, start, end) : 0;
  }

  *#addShort(rows: SeriesRows): Generator<undefined, void> {
    this.#short.push(rows);
    this.#shortRows += rows.series.length;
    this.#shortTextBytes += this.#textsOf(rows, 0, rows.series.length);
    const wanted = Math.min(SHARED_CHUNK_ROWS, chunkRowsMax(1, this.#fields.length));
    if (this.#shortRows < wanted && this.#shortTextBytes < TEXT_PART_BYTES) return;
    const all = concatSeriesRows(this.#short);
    const { ids, ends } = runsBySeries(all.series);
    let first = 0;
    let start = 0;
    let textBytes = 0;
    for (let next = 1; next <= ends.length; next++) {
      const end = ends[next - 1]!;
      textBytes += this.#textsOf(all, runStart(ends, next - 1), end);
      if (end - start < wanted && textBytes < TEXT_PART_BYTES) continue;
      textBytes = 0;
      this.#writeShared(sliceSeriesRows(all, start, end), {
        ids: ids.subarray(first, next),
        ends: ends.subarray(first, next).map((one) => one - start),
      });
      first = next;
      start = end;
      yield undefined;
    }
    this.#short =
      start === all.series.length ? [] : [sliceSeriesRows(all, start, all.series.length)];
    this.#shortRows = all.series.length - start;
    this.#shortTextBytes = textBytes;
  }

  /** Writes the short series that were waiting for further ones. */
  #endShort(): void {
    if (this.#shortRows === 0) return;
    const all = concatSeriesRows(this.#short);
    const { ids, ends } = runsBySeries(all.series);
    this.#short = [];
    this.#shortRows = 0;
    this.#shortTextBytes = 0;
    if (ids.length >= SHARED_SERIES_MIN) this.#writeShared(all, { ids, ends });
    else {
      ids.forEach((id, i) => {
        this.addRun(sliceRun(all, runStart(ends, i), ends[i]!));
        this.endSeries(id);
      });
    }
  }

  #writeShared(run: Run, { ids, ends }: SeriesRuns): void {
    this.#closePage();
    const chunk = this.#writeChunk(run, true);
    for (const id of ids) this.#listSeries(id);
    this.#note(chunk);
    const bytes = encodeSharedPage({ series: ids, ends, chunk }, this.#fields);
    const page = { isShared: true, firstSeries: ids[0]!, offset: this.bytesWritten };
    this.#pages.push({ ...page, length: this.#writeBlock(bytes) });
  }

  #listSeries(series: SeriesId): void {
    const { last } = this.#series;
    assert(last === undefined || series > last, 'series ascend');
    this.#series.push(series);
  }

  addRawChunk({ meta, bytes }: RawChunk): void {
    this.#endShort();
    const shift = this.bytesWritten - meta.timeOffset;
    this.#buffer.raw(bytes);
    this.#flushBuffer();
    this.#chunks.push({
      ...meta,
      timeOffset: meta.timeOffset + shift,
      columns: meta.columns.map((column) => ({ ...column, offset: column.offset + shift })),
    });
  }

  /** Series come in ascending order; one without chunks is left out. */
  endSeries(series: SeriesId): void {
    const chunks = this.#chunks;
    if (chunks.length === 0) return;
    if (this.#page.length === 0) {
      this.#page.varint(chunks[0]!.timeOffset);
      this.#pageFirst = series;
      this.#pageLast = series;
    }
    writeEntry(this.#page, { seriesDelta: series - this.#pageLast, chunks }, this.#fields);
    this.#pageLast = series;
    this.#listSeries(series);
    for (const chunk of chunks) this.#note(chunk);
    this.#chunks = [];
    if (this.#page.length > DIRECTORY_PAGE_BYTES) this.#closePage();
  }

  #note({ rows, minTime, maxTime }: ChunkMeta): void {
    this.#rows += rows;
    if (minTime < this.#minTime) this.#minTime = minTime;
    if (maxTime > this.#maxTime) this.#maxTime = maxTime;
  }

  #closePage(): void {
    if (this.#page.length === 0) return;
    // Written right after its chunks, not kept until the end: the pages of a million series are 22
    // MiB.
    const bytes = this.#page.drain();
    this.#pages.push({
      isShared: false,
      firstSeries: this.#pageFirst,
      offset: this.bytesWritten,
      length: bytes.length,
    });
    this.#writeBlock(bytes);
  }

  endMeasurement(): void {
    assert(this.#chunks.length === 0, 'the last series is ended');
    this.#endShort();
    this.#closePage();
    this.#measurements.push({
      measurementId: this.#measurementId,
      fields: this.#fields,
      series: this.#series.toArray(),
      pages: this.#pages,
      rows: this.#rows,
    });
    this.#measurementId = -1;
  }

  /** Writes the footer and syncs. Returns the size of the file. */
  async finish(): Promise<number> {
    assert(this.#measurementId < 0, 'the last measurement is ended');
    const footer = encodeFooter({
      shardId: this.#shardId,
      minTime: this.#minTime,
      maxTime: this.#maxTime,
      measurements: this.#measurements,
    });
    const offset = this.bytesWritten;
    this.#buffer.raw(footer);
    this.#buffer.i64(BigInt(offset));
    this.#buffer.u32(footer.length);
    this.#buffer.u32(crc32c(footer));
    this.#buffer.i64(segmentMagic(SEGMENT_VERSION));
    this.#flushBuffer(0);
    await this.#file.sync();
    this.#close();
    assert(offset >= SEGMENT_HEADER_BYTES, 'the footer follows the header');
    return this.#bufferOffset;
  }

  /** Closes and removes the file. */
  abort(): void {
    this.#close();
    this.#disk.remove(this.#path);
  }

  #close(): void {
    this.#statistics.close();
    this.#file.close();
  }

  /** A chunk of one series, or of several that share it. */
  #writeChunk(run: Run, isShared = false): ChunkMeta {
    return finish(this.#writeColumns(run.times, (field) => run.columns[field], isShared));
  }

  *#writeColumns(
    times: BigInt64Array,
    columnAt: (field: number) => Column | Uint8Array | undefined,
    isShared = false,
  ): Generator<undefined, ChunkMeta> {
    const timeOffset = this.bytesWritten;
    const timeBytes = this.#writeBlock(codecs().encodeTimes(times, 'small'));
    const columns: ColumnMeta[] = [];
    for (let field = 0; field < this.#fields.length; field++) {
      if (field % STEP_COLUMNS === STEP_COLUMNS - 1) yield undefined;
      const column = columnAt(field);
      if (column === undefined) continue;
      if (column instanceof Uint8Array) {
        columns.push(this.#copyColumn(field, column, times.length));
        continue;
      }
      const meta = this.#writeColumn(field, column, isShared ? undefined : times);
      if (meta !== undefined) columns.push(meta);
    }
    const rows = times.length;
    const bounds = isShared ? timeBoundsOf(times) : { min: times[0]!, max: times[rows - 1]! };
    const { min: minTime, max: maxTime } = bounds;
    return { minTime, maxTime, rows, timeOffset, timeBytes, columns };
  }

  #copyColumn(field: number, block: Uint8Array, count: number): ColumnMeta {
    const offset = this.bytesWritten;
    const valueBytes = this.#writeBlock(block);
    return { field, count, offset, validBytes: 0, valueBytes, statistics: undefined };
  }

  /**
   * `undefined` when all values are null. With statistics where times are given and there are
   * enough values.
   */
  #writeColumn(
    field: number,
    column: Column,
    statisticsTimes: BigInt64Array | undefined,
  ): ColumnMeta | undefined {
    const rows = valuesOf(column).length;
    const { dense, count } = denseColumn(column);
    if (count === 0) return undefined;
    const offset = this.bytesWritten;
    const valid =
      count === rows ? undefined : codecs().encodeValidity(column.valid ?? new Uint8Array(rows));
    const values = codecs().encodeColumn(dense, 'small');
    if (valid === undefined) this.#writeBlock(values);
    else {
      const both = new ByteWriter(values.length + valid.length);
      both.raw(valid);
      both.raw(values);
      this.#writeBlock(both.finish());
    }
    const statistics =
      statisticsTimes === undefined || count < MIN_STATISTICS_ROWS
        ? undefined
        : this.#statistics.of(column, statisticsTimes);
    return {
      field,
      count,
      offset,
      validBytes: valid?.length ?? 0,
      valueBytes: values.length,
      statistics,
    };
  }

  /** Appends a block and its checksum; returns the block's length. */
  #writeBlock(bytes: Uint8Array): number {
    this.#buffer.raw(bytes);
    this.#buffer.u32(crc32c(bytes));
    this.#flushBuffer();
    return bytes.length;
  }

  #flushBuffer(threshold = WRITE_BUFFER_BYTES): void {
    if (this.#buffer.length < threshold) return;
    const bytes = this.#buffer.drain();
    this.#file.write(bytes, this.#bufferOffset);
    this.#bufferOffset += bytes.length;
  }
}

/** Values that are not null, of all columns. */
function valuesIn({ columns }: Run): number {
  let values = 0;
  for (const column of columns) if (column !== undefined) values += countOf(column);
  return values;
}

function countOf(column: Column): number {
  const { valid } = column;
  return valid === undefined ? valuesOf(column).length : countValid(valid);
}

/** The values that are not null, one after another. */
function denseColumn(column: Column): { readonly dense: Column; readonly count: number } {
  const { valid } = column;
  const values = valuesOf(column);
  const count = countOf(column);
  if (valid === undefined) return { dense: column, count };
  if (count === valid.length) return { dense: { ...column, valid: undefined }, count };
  const dense = newFieldArray(column.type, count);
  let at = 0;
  for (let i = 0; i < valid.length; i++) if (valid[i] === 1) dense[at++] = values[i]!;
  const texts = column.type === 'string' ? column.texts : undefined;
  return { dense: columnOf(column.type, { values: dense, valid: undefined, texts }), count };
}
