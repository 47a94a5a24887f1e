// Writes a segment file: chunks as they come, a directory page behind those it describes, footer.
// The file exists for others only after `finish`, which syncs it; the caller makes its name
// durable.
import { assert, MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { Column } from '@tidemark/core';

import { ByteWriter } from '../columns/bytes.ts';
import { codecs, crc32c, scans, shortSeries } from '../columns/codecs.ts';
import type { Disk, DiskFile } from '../disk/disk.ts';
import { columnOf, sliceRun, stretchStart, valuesOf } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { finish } from '../schedule/steps.ts';
import type { SeriesRows } from '@tidemark/kernels';
import { newFieldArray } from '../columns/row-block.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { Uint32List } from '../columns/uint32-list.ts';
import {
  chunkRowsMax,
  DIRECTORY_PAGE_BYTES,
  encodeFooter,
  MIN_STATISTICS_ROWS,
  SEGMENT_HEADER_BYTES,
  SEGMENT_MAGIC,
  segmentHeader,
  SHORT_ENTRIES,
  writeEntry,
} from './format.ts';
import type {
  ChunkMeta,
  ColumnMeta,
  NumericStatistics,
  PageMeta,
  SegmentField,
  SegmentMeasurement,
} from './format.ts';

const WRITE_BUFFER_BYTES = 256 << 10;
/** Most blocks fit behind a buffer that is nearly full. */
const BLOCK_ROOM_BYTES = 64 << 10;

/** Where a page begins: about what its varint takes. */
const PAGE_START_BYTES = 4;

/** A chunk taken over from another segment as it is: its blocks are not decoded. */
export type RawChunk = { readonly meta: ChunkMeta; readonly bytes: Uint8Array };

export class SegmentWriter {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #file: DiskFile;
  readonly #shardId: number;
  readonly #measurements: SegmentMeasurement[] = [];
  readonly #buffer = new ByteWriter(WRITE_BUFFER_BYTES + BLOCK_ROOM_BYTES);
  #bufferOffset = 0;
  #minTime = MAX_INT64;
  #maxTime = MIN_INT64;

  // Of the measurement being written.
  #fields: readonly SegmentField[] = [];
  #measurementId = -1;
  readonly #series = new Uint32List();
  #pages: PageMeta[] = [];
  #rows = 0;
  readonly #page = new ByteWriter(DIRECTORY_PAGE_BYTES);
  #pageFirst = 0;
  #pageLast = 0;
  #chunks: ChunkMeta[] = [];

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
    this.#series.clear();
    this.#pages = [];
    this.#rows = 0;
  }

  /**
   * Rows of the present series: strictly ascending and behind all that it has so far. Columns as
   * `fields`.
   */
  addRun(run: Run): void {
    finish(this.addRunInSteps(run));
  }

  /** As `addRun`, pausing behind each chunk. */
  *addRunInSteps(run: Run): Generator<undefined, void> {
    const { length } = run.times;
    // Even parts: 4,100 rows become two chunks of 2,050, not one full and one of four rows.
    const parts = Math.ceil(length / chunkRowsMax(this.#fields.length));
    for (let i = 0; i < parts; i++) {
      const start = Math.floor((length * i) / parts);
      const end = Math.floor((length * (i + 1)) / parts);
      this.#chunks.push(this.#writeChunk(sliceRun(run, start, end)));
      yield undefined;
    }
  }

  /**
   * Adds series whose rows lie one behind the other, those of each strictly ascending, as `addRun`
   * and `endSeries` would one by one. Where one has many rows or none that ascend, or fields of
   * texts, `addOther` is called, which has to add it.
   */
  addSeriesRows(rows: SeriesRows, addOther: (index: number) => void): void {
    const { length } = rows.ids;
    // Where all are long, they need not be copied for the encoder.
    const isSet = hasShortSeries(rows.ends) && shortSeries(SHORT_ENTRIES).setRows(rows);
    let next = 0;
    while (next < length) {
      if (isSet) next = this.#addShortSeries(rows, next);
      if (next < length) addOther(next++);
    }
  }

  /** Adds series from `first` on while they are short; the index of the first that is not. */
  #addShortSeries(rows: SeriesRows, first: number): number {
    const encoder = shortSeries(SHORT_ENTRIES);
    for (let from = first; ;) {
      if (from === rows.ids.length) return from;
      const isNewPage = this.#page.length === 0;
      const pageBytes = isNewPage ? PAGE_START_BYTES : this.#page.length;
      const encoded = encoder.encode(from, {
        previousId: isNewPage ? rows.ids[from]! : this.#pageLast,
        entriesWanted: DIRECTORY_PAGE_BYTES - pageBytes,
      });
      const { next, entries, blocks, minTime, maxTime } = encoded;
      if (next === from) return from;
      if (isNewPage) this.#beginPage(rows.ids[from]!, this.bytesWritten);
      this.#buffer.raw(blocks);
      this.#page.raw(entries);
      for (let i = from; i < next; i++) this.#listSeries(rows.ids[i]!);
      this.#pageLast = rows.ids[next - 1]!;
      this.#rows += rows.ends[next - 1]! - stretchStart(rows.ends, from);
      if (minTime < this.#minTime) this.#minTime = minTime;
      if (maxTime > this.#maxTime) this.#maxTime = maxTime;
      this.#flushBuffer();
      if (this.#page.length > DIRECTORY_PAGE_BYTES) this.#closePage();
      from = next;
    }
  }

  #listSeries(series: SeriesId): void {
    const { last } = this.#series;
    assert(last === undefined || series > last, 'series ascend');
    this.#series.push(series);
  }

  #beginPage(series: SeriesId, offset: number): void {
    this.#page.varint(offset);
    this.#pageFirst = series;
    this.#pageLast = series;
  }

  addRawChunk({ meta, bytes }: RawChunk): void {
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
    if (this.#page.length === 0) this.#beginPage(series, chunks[0]!.timeOffset);
    writeEntry(this.#page, { seriesDelta: series - this.#pageLast, chunks }, this.#fields);
    this.#pageLast = series;
    this.#listSeries(series);
    for (const chunk of chunks) {
      this.#rows += chunk.rows;
      if (chunk.minTime < this.#minTime) this.#minTime = chunk.minTime;
      if (chunk.maxTime > this.#maxTime) this.#maxTime = chunk.maxTime;
    }
    this.#chunks = [];
    if (this.#page.length > DIRECTORY_PAGE_BYTES) this.#closePage();
  }

  #closePage(): void {
    if (this.#page.length === 0) return;
    // Right behind its chunks: of a million series all pages are 22 MiB.
    const bytes = this.#page.drain();
    this.#pages.push({
      firstSeries: this.#pageFirst,
      offset: this.bytesWritten,
      length: bytes.length,
    });
    this.#writeBlock(bytes);
  }

  endMeasurement(): void {
    assert(this.#chunks.length === 0, 'the last series is ended');
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
    this.#buffer.i64(SEGMENT_MAGIC);
    this.#flushBuffer(0);
    await this.#file.sync();
    this.#file.close();
    assert(offset >= SEGMENT_HEADER_BYTES, 'the footer follows the header');
    return this.#bufferOffset;
  }

  /** Gives up: closes and removes the file. */
  abort(): void {
    this.#file.close();
    this.#disk.remove(this.#path);
  }

  #writeChunk(run: Run): ChunkMeta {
    const { times } = run;
    const timeOffset = this.bytesWritten;
    const timeBytes = this.#writeBlock(codecs().encodeTimes(times, 'small'));
    const columns: ColumnMeta[] = [];
    for (let field = 0; field < this.#fields.length; field++) {
      const column = run.columns[field];
      if (column === undefined) continue;
      const meta = this.#writeColumn(field, column, times);
      if (meta !== undefined) columns.push(meta);
    }
    const rows = times.length;
    return { minTime: times[0]!, maxTime: times[rows - 1]!, rows, timeOffset, timeBytes, columns };
  }

  /** `undefined` when all values are null. */
  #writeColumn(field: number, column: Column, times: BigInt64Array): ColumnMeta | undefined {
    const rows = times.length;
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
    const statistics = rows < MIN_STATISTICS_ROWS ? undefined : statisticsOf(column, times);
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

function hasShortSeries(ends: Uint32Array): boolean {
  for (let i = 0, start = 0; i < ends.length; i++) {
    if (ends[i]! - start < MIN_STATISTICS_ROWS) return true;
    start = ends[i]!;
  }
  return false;
}

/** The values that are not null, one behind the other. */
function denseColumn(column: Column): { readonly dense: Column; readonly count: number } {
  const { valid } = column;
  const values = valuesOf(column);
  if (valid === undefined) return { dense: column, count: values.length };
  let count = 0;
  for (let i = 0; i < valid.length; i++) count += valid[i]!;
  if (count === valid.length) return { dense: { ...column, valid: undefined }, count };
  const dense = newFieldArray(column.type, count);
  let at = 0;
  for (let i = 0; i < valid.length; i++) if (valid[i] === 1) dense[at++] = values[i]!;
  const dictionary = column.type === 'string' ? column.dictionary : undefined;
  return { dense: columnOf(column.type, { values: dense, valid: undefined, dictionary }), count };
}

function statisticsOf(column: Column, times: BigInt64Array): NumericStatistics | undefined {
  if (column.type === 'string' || column.type === 'boolean') return undefined;
  const window = { start: 0n, wantsSum: true, wantsExtremes: true };
  const accumulator = scans().openAccumulator(column.type, window);
  try {
    accumulator.add(times, column);
    const all = accumulator.finish();
    if (all.starts.length === 0) return undefined;
    return {
      min: all.mins[0]!,
      max: all.maxs[0]!,
      sum: all.sums[0]!,
      first: all.firsts[0]!,
      last: all.lasts[0]!,
      minTime: all.minTimes[0]!,
      maxTime: all.maxTimes[0]!,
      firstTime: all.firstTimes[0]!,
      lastTime: all.lastTimes[0]!,
    };
  } finally {
    accumulator.close();
  }
}
