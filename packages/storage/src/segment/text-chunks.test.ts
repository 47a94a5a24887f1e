// Chunks of long texts: written small enough to be read at once; larger ones, which are in older
// files, are read in parts.
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { columnFrom, columnValue, Corruption } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import { Codecs } from '@tidemark/kernels';
import { zeroCounters } from '@tidemark/query';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { ByteWriter } from '../columns/bytes.ts';
import { crc32c } from '../columns/codecs.ts';
import { CHUNK_TEXT_BYTES, TEXT_PART_BYTES } from '../columns/run-texts.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import { ChunkReader } from '../read/chunk-reader.ts';
import { storedRowsOf } from '../shard/stored-rows.ts';
import { textsAt } from './chosen-texts.ts';
import type { ColumnMeta, SegmentField } from './format.ts';
import { SegmentCaches } from './segment-caches.ts';
import { Segment } from './segment.ts';
import { SegmentWriter } from './writer.ts';

const FIELDS: readonly SegmentField[] = [{ name: 's', type: 'string' }];
const timeRange = { start: 0n, end: 1n << 60n };

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'text-chunks-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function written(write: (writer: SegmentWriter) => void): Promise<Segment> {
  const disk = nodeDisk();
  const path = join(directory, 'segment');
  const writer = new SegmentWriter(disk, path, 1);
  writer.beginMeasurement(0, FIELDS);
  write(writer);
  writer.endMeasurement();
  const sizeBytes = await writer.finish();
  const info = { fileId: 1, sequence: 1, level: 0, sizeBytes };
  return Segment.open(info, disk.open(path, 'read'), new SegmentCaches());
}

const longText = (number: number, length: number): string => `${number}`.padEnd(length, 'x');

function textsOf(column: Column | undefined): string[] {
  const rows = column?.type === 'string' ? column.codes.length : 0;
  return Array.from({ length: rows }, (_, row) => String(columnValue(column!, row)));
}

test('a run of long texts becomes chunks of four megabytes', async () => {
  const texts = Array.from({ length: 300 }, (_, i) => longText(i, 66_000));
  const segment = await written((writer) => {
    writer.addRun({
      times: BigInt64Array.from(texts, (_, i) => BigInt(i)),
      columns: [columnFrom('string', texts)],
    });
    writer.endSeries(7);
  });
  try {
    const stored = segment.measurement(0)!;
    const chunks = segment.rowsOf(stored, 7).map(({ chunk }) => chunk);
    const columns = chunks.map((chunk) => segment.column(stored, chunk, chunk.columns[0]!));

    expect(columns.flatMap(textsOf)).toEqual(texts);
    for (const { rows } of chunks) expect(rows * 66_000).toBeLessThanOrEqual(CHUNK_TEXT_BYTES);
  } finally {
    segment.close();
  }
});

test('short series of long texts share chunks of a few megabytes', async () => {
  const ids = Uint32Array.from({ length: 400 }, (_, i) => i);
  const texts = Array.from(ids, (id) => longText(id, 60_000));
  const segment = await written((writer) =>
    writer.addSeriesRows({
      series: ids,
      times: new BigInt64Array(ids.length),
      columns: [columnFrom('string', texts)],
    }),
  );
  try {
    const stored = segment.measurement(0)!;
    const seen = Array.from(ids, (id) => {
      const [rows] = storedRowsOf({ segment, stored, tombstones: [] }, id);
      expect(rows!.chunk.rows * 60_000).toBeLessThan(2 * TEXT_PART_BYTES);
      return textsOf(readerOf(segment, id).run().columns[0]);
    });

    expect(seen.flat()).toEqual(texts);
  } finally {
    segment.close();
  }
});

/** The body of a block of integers: without their number, which stands first. */
function integersBody(values: readonly number[]): Uint8Array {
  const block = new Codecs().encodeIntegers(BigInt64Array.from(values, BigInt));
  const count = new ByteWriter();
  count.varint(values.length);
  return block.subarray(count.length);
}

/** A block of `count` texts of `length` bytes, as older files have them; packed or not. */
function largeBlock(count: number, length: number, isPacked: boolean): Uint8Array {
  const out = new ByteWriter(1 << 20);
  out.varint(count);
  out.u8(0x30);
  out.varint(count);
  out.raw(integersBody(Array.from({ length: count }, (_, i) => i)));
  out.raw(integersBody(Array.from({ length: count }, () => length)));
  out.varint(count * length);
  out.u8(isPacked ? 1 : 0);
  const texts = new ByteWriter(1 << 20);
  for (let i = 0; i < count; i++) {
    const text = longText(i, length);
    if (!isPacked) texts.raw(Buffer.from(text));
    else packText(texts, text, i === count - 1);
  }
  if (isPacked) out.varint(texts.length);
  out.raw(texts.finish());
  return out.finish();
}

/** Sequences of LZ4: what differs, then one letter that repeats; literals at the very end. */
function packText(out: ByteWriter, text: string, isLast: boolean): void {
  const differs = text.indexOf('x') + 1;
  const tail = isLast ? 5 : 0;
  const match = text.length - differs - tail - 4;
  out.u8((differs << 4) | 15);
  out.raw(Buffer.from(text.slice(0, differs)));
  out.u8(1);
  out.u8(0);
  let rest = match - 15;
  for (; rest >= 255; rest -= 255) out.u8(255);
  out.u8(rest);
  if (!isLast) return;
  out.u8(tail << 4);
  out.raw(Buffer.from('x'.repeat(tail)));
}

/** A file with one chunk of such a block, and a validity where `valid` is given. */
async function withLargeChunk(
  block: Uint8Array,
  count: number,
  valid?: Uint8Array,
): Promise<Segment> {
  const rows = valid?.length ?? count;
  const codecs = new Codecs();
  const times = codecs.encodeTimes(BigInt64Array.from({ length: rows }, (_, i) => BigInt(i)));
  const validity = valid === undefined ? new Uint8Array() : codecs.encodeValidity(valid);
  const bytes = new ByteWriter(block.length + 1024);
  const checked = (part: Uint8Array): void => {
    bytes.raw(part);
    bytes.u32(crc32c(part));
  };
  checked(times);
  const offset = bytes.length;
  checked(Buffer.concat([validity, block]));
  const column: ColumnMeta = {
    field: 0,
    count,
    offset,
    validBytes: validity.length,
    valueBytes: block.length,
    statistics: undefined,
  };
  const bounds = { minTime: 0n, maxTime: BigInt(rows - 1), rows };
  const place = { timeOffset: 0, timeBytes: times.length, columns: [column] };
  return written((writer) => {
    writer.addRawChunk({ meta: { ...bounds, ...place }, bytes: bytes.finish() });
    writer.endSeries(7);
  });
}

function readerOf(segment: Segment, series = 7): ChunkReader {
  const stored = segment.measurement(0)!;
  const [rows] = storedRowsOf({ segment, stored, tombstones: [] }, series);
  const fields = FIELDS.map(({ name }) => ({ name }));
  const { columns } = rows!.chunk;
  const counters = zeroCounters();
  return new ChunkReader({ fields, timeRange, counters, presenceOnly: false }, rows!, columns);
}

test.each([
  { name: 'packed', isPacked: true, count: 4096, length: 66_000 },
  { name: 'stored', isPacked: false, count: 300, length: 60_000 },
])('texts of a chunk that is too large are read in parts: $name', async (large) => {
  const { isPacked, count, length } = large;
  const segment = await withLargeChunk(largeBlock(count, length, isPacked), count);
  try {
    const reader = readerOf(segment);
    const parts = reader.parts() ?? [];
    let row = 0;
    for (const part of parts) {
      const { times, columns } = reader.part(part);
      const texts = textsOf(columns[0]);

      expect(texts.length * length).toBeLessThanOrEqual(TEXT_PART_BYTES);
      expect(texts.every((text, i) => text === longText(row + i, length))).toBe(true);
      expect(times[0]).toBe(BigInt(row));
      row += texts.length;
    }

    expect(row).toBe(count);
    // In another order.
    const first = textsOf(reader.part(parts[0]!).columns[0]);
    expect(first[0]).toBe(longText(0, length));
  } finally {
    segment.close();
  }
});

test('rows without a value stay without one in the parts', async () => {
  const valid = Uint8Array.from({ length: 600 }, (_, i) => i % 2);
  const segment = await withLargeChunk(largeBlock(300, 60_000, false), 300, valid);
  try {
    const reader = readerOf(segment);
    const columns = (reader.parts() ?? []).map((part) => reader.part(part).columns[0]!);
    const values = columns.flatMap((column) =>
      Array.from({ length: column.valid!.length }, (_, row) => columnValue(column, row)),
    );

    expect(columns.length).toBeGreaterThan(1);
    expect(values).toEqual(
      Array.from(valid, (isThere, i) => (isThere ? longText((i - 1) / 2, 60_000) : null)),
    );
  } finally {
    segment.close();
  }
});

test('a damaged chunk that is too large is reported with file and offset', async () => {
  const block = largeBlock(300, 60_000, false);
  const segment = await withLargeChunk(block, 300);
  try {
    const file = openSync(segment.path, 'r+');
    writeSync(file, Uint8Array.of(7), 0, 1, 1_000_000);
    closeSync(file);

    expect(() => readerOf(segment).parts()).toThrow(/segment is damaged: block checksum/);
  } finally {
    segment.close();
  }
});

test('a damaged frame of texts fails the reads of its rows only', async () => {
  const texts = Array.from({ length: 1000 }, (_, i) => longText(i * 7919, 100));
  const segment = await written((writer) => {
    writer.addRun({
      times: BigInt64Array.from(texts, (_, i) => BigInt(i)),
      columns: [columnFrom('string', texts)],
    });
    writer.endSeries(7);
  });
  try {
    const stored = segment.measurement(0)!;
    const { chunk } = segment.rowsOf(stored, 7)[0]!;
    const meta = chunk.columns[0]!;
    const read = (...rows: number[]): string[] =>
      textsOf(textsAt(segment.blocks, { chunk, meta }, { rows: Uint32Array.from(rows) }));
    expect(read(0, 999)).toEqual([texts[0], texts[999]]);

    const file = openSync(join(directory, 'segment'), 'r+');
    writeSync(file, Uint8Array.of(0xff), 0, 1, meta.offset + meta.valueBytes - 20);
    closeSync(file);

    expect(read(0, 5)).toEqual([texts[0], texts[5]]);
    expect(() => read(999)).toThrow(Corruption);
    expect(() => segment.column(stored, chunk, meta)).toThrow(Corruption);
  } finally {
    segment.close();
  }
});
