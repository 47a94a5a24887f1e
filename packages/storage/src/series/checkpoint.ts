// A checkpoint: the series index in its form in memory, so that opening only reads it instead of
// building it. The index log stays authoritative: without a sound checkpoint, opening only takes
// longer. Format: docs/formats/series-index.md.
import { NewerFormat } from '../damage.ts';
import { ByteReader, ByteWriter, DecodeError } from '../columns/bytes.ts';
import { noteShortLived } from '../columns/short-lived.ts';
import { crc32c } from '../columns/codecs.ts';
import type { Disk, DiskFile } from '../disk/disk.ts';
import { firstNotBelow } from '../columns/search.ts';
import type { SeriesIndex } from './series-index.ts';

const MAGIC = 0x435853_4d4454n; // "TDMSXC" little-endian
const VERSION = 2;
const HEADER_BYTES = 8;
const TRAILER_BYTES = 24;
const PARTS = ['series', 'values', 'keys'] as const;

/** How many entries of the index a checkpoint holds: those with numbers below these. */
export type CheckpointRange = {
  readonly measurements: number;
  readonly series: number;
  /** Bytes of the index log that hold the same entries. */
  readonly logBytes: number;
};

export function checkpointPath(directory: string, fileId: number): string {
  return `${directory}/${checkpointFileName(fileId)}`;
}

export function checkpointFileName(fileId: number): string {
  return `${String(fileId).padStart(8, '0')}.checkpoint`;
}

/**
 * Replaces the checkpoint at `path`; durable when it resolves. `pause` is awaited between portions
 * of about a megabyte. `syncLog` makes the log durable, so that no series is missing here whose
 * delete a power cut takes back.
 */
export async function writeCheckpoint(
  index: SeriesIndex,
  range: CheckpointRange,
  options: {
    readonly disk: Disk;
    readonly directory: string;
    readonly path: string;
    readonly pause: () => Promise<void>;
    readonly syncLog: () => Promise<void>;
  },
): Promise<void> {
  const { disk, path, pause, syncLog } = options;
  const temporary = `${path}.tmp`;
  disk.remove(temporary);
  const file = disk.open(temporary, 'create');
  try {
    const out = new SectionWriter(file);
    const contents = new ByteWriter(1 << 12);
    contents.varint(range.logBytes);
    contents.varint(range.measurements);
    contents.varint(range.series);
    encodeNames(index, contents);
    // Counted now: entries added while this is being written belong to the next checkpoint.
    const counts = PARTS.map((part) =>
      part === 'series' ? range.series : index.keys.partCount(part),
    );
    const columns = index.measurements.slice(0, range.measurements).map((measurement) => {
      const ids = measurement.seriesIds();
      return {
        ids: ids.subarray(0, firstNotBelow(ids, range.series)),
        columns: measurement.sortedTagColumns().map(({ key, column }) => ({
          key,
          values: column.values,
        })),
      };
    });
    for (const [i, part] of PARTS.entries()) {
      out.begin();
      for (const bytes of index.keys.exportPart(part, counts[i]!)) {
        out.write(bytes);
        noteShortLived(bytes.length);
        await pause();
      }
      contents.varint(counts[i]!);
      out.end(contents);
    }
    for (const { ids, columns: own } of columns) {
      contents.varint(ids.length);
      out.words(ids, contents);
      contents.varint(own.length);
      for (const { key, values } of own) {
        contents.text(key);
        out.words(values.subarray(0, Math.min(values.length, ids.length)), contents);
        await pause();
      }
    }
    out.finish(contents.finish());
    await syncLog();
    await file.sync();
  } catch (error) {
    file.close();
    disk.remove(temporary);
    throw error;
  }
  file.close();
  disk.rename(temporary, path);
  await disk.syncDirectory(options.directory);
}

/**
 * Fills an empty index. `undefined` when there is no checkpoint; throws `DecodeError` or
 * `CodecError` for one that is damaged, and `NewerFormat`; it leaves an index that must not be
 * used.
 */
export function readCheckpoint(
  index: SeriesIndex,
  options: { readonly disk: Disk; readonly path: string },
): CheckpointRange | undefined {
  const { disk, path } = options;
  if (!disk.exists(path)) return undefined;
  const file = disk.open(path, 'read');
  try {
    const reader = new ByteReader(readContents(file));
    const range = {
      logBytes: reader.varint(),
      measurements: reader.varint(),
      series: reader.varint(),
    };
    decodeNames(index, reader, range.measurements);
    for (const part of PARTS) {
      const count = reader.varint();
      const { offset, sizeBytes, checksum } = readSection(reader);
      index.keys.loadPart(part, { count, sizeBytes, checksum }, (target) => {
        readAll(file, target, offset);
      });
    }
    const columns = new ColumnReader(file, reader);
    for (let id = 0; id < range.measurements; id++) {
      const count = reader.varint();
      const ids = columns.next(count);
      const own = Array.from({ length: reader.count(2) }, () => ({
        key: reader.text(),
        values: columns.next(count),
      }));
      index.load(index.measurements[id]!, ids, own);
    }
    if (index.finishLoad() !== range.series) throw new DecodeError('series of a checkpoint');
    return range;
  } finally {
    file.close();
  }
}

/**
 * Names of measurements in the order of their numbers in the table of keys, each with its id + 1,
 * or 0 when it has no id.
 */
function encodeNames({ keys, measurements }: SeriesIndex, out: ByteWriter): void {
  const ids = new Map(measurements.map(({ number, id }) => [number, id]));
  const { measurementCount } = keys;
  out.varint(measurementCount);
  for (let number = 0; number < measurementCount; number++) {
    out.text(keys.measurementName(number));
    out.varint((ids.get(number) ?? -1) + 1);
  }
}

function decodeNames(index: SeriesIndex, reader: ByteReader, count: number): void {
  const names = new Map<number, string>();
  for (let n = reader.count(2), number = 0; number < n; number++) {
    const name = reader.text();
    if (index.keys.measurementNumber(name) !== number) throw new DecodeError('measurement number');
    const id = reader.varint() - 1;
    if (id >= 0 && id < count) names.set(id, name);
  }
  for (let id = 0; id < count; id++) {
    const name = names.get(id);
    if (name === undefined || index.addMeasurement(name).id !== id) {
      throw new DecodeError('measurement of a checkpoint');
    }
  }
}

type Section = { readonly offset: number; readonly sizeBytes: number; readonly checksum: number };

function readSection(reader: ByteReader): Section {
  return { offset: reader.varint(), sizeBytes: reader.varint(), checksum: reader.u32() };
}

class SectionWriter {
  readonly #file: DiskFile;
  #position = HEADER_BYTES;
  #begin = HEADER_BYTES;
  #checksum = 0;

  constructor(file: DiskFile) {
    this.#file = file;
    const header = new ByteWriter(HEADER_BYTES);
    header.i64(MAGIC | (BigInt(VERSION) << 48n));
    file.write(header.finish(), 0);
  }

  begin(): void {
    this.#begin = this.#position;
    this.#checksum = 0;
  }

  write(bytes: Uint8Array): void {
    this.#file.write(bytes, this.#position);
    this.#position += bytes.length;
    this.#checksum = crc32c(bytes, this.#checksum);
  }

  /** Ends the section and records its position in the table of contents. */
  end(contents: ByteWriter): void {
    contents.varint(this.#begin);
    contents.varint(this.#position - this.#begin);
    contents.u32(this.#checksum);
  }

  words(words: Uint32Array, contents: ByteWriter): void {
    this.begin();
    this.write(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
    this.end(contents);
  }

  finish(contents: Uint8Array): void {
    const trailer = new ByteWriter(TRAILER_BYTES);
    trailer.i64(BigInt(this.#position));
    trailer.u32(contents.length);
    trailer.u32(crc32c(contents));
    trailer.i64(MAGIC | (BigInt(VERSION) << 48n));
    this.#file.write(contents, this.#position);
    this.#file.write(trailer.finish(), this.#position + contents.length);
  }
}

function readContents(file: DiskFile): Uint8Array {
  const size = file.size();
  if (size < HEADER_BYTES + TRAILER_BYTES) throw new DecodeError('checkpoint is too short');
  const trailer = new Uint8Array(TRAILER_BYTES);
  readAll(file, trailer, size - TRAILER_BYTES);
  const reader = new ByteReader(trailer);
  const offset = Number(reader.i64());
  const length = reader.u32();
  const checksum = reader.u32();
  const end = reader.i64();
  const header = new Uint8Array(HEADER_BYTES);
  readAll(file, header, 0);
  const begin = new ByteReader(header).i64();
  if ((begin & 0xffffffffffffn) !== MAGIC || begin !== end) {
    throw new DecodeError('header or trailer of the checkpoint');
  }
  // Version 1 differs only in having a series for every id.
  const version = Number(begin >> 48n);
  if (version > VERSION) throw new NewerFormat(file.path, { version, newest: VERSION });
  if (offset + length !== size - TRAILER_BYTES) throw new DecodeError('place of the contents');
  const contents = new Uint8Array(length);
  readAll(file, contents, offset);
  if (crc32c(contents) !== checksum) throw new DecodeError('checksum of the contents');
  return contents;
}

class ColumnReader {
  readonly #file: DiskFile;
  readonly #reader: ByteReader;

  constructor(file: DiskFile, reader: ByteReader) {
    this.#file = file;
    this.#reader = reader;
  }

  /** The next section as words, at most `countMax`. */
  next(countMax: number): Uint32Array {
    const { offset, sizeBytes, checksum } = readSection(this.#reader);
    if (sizeBytes % 4 !== 0 || sizeBytes > countMax * 4) throw new DecodeError('size of a column');
    const bytes = new Uint8Array(sizeBytes);
    readAll(this.#file, bytes, offset);
    if (crc32c(bytes) !== checksum) throw new DecodeError('checksum of a column');
    return new Uint32Array(bytes.buffer);
  }
}

function readAll(file: DiskFile, target: Uint8Array, offset: number): void {
  if (file.read(target, offset) !== target.length) throw new DecodeError('checkpoint ends early');
}
