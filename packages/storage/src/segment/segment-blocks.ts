// The file of a segment as bytes: blocks with their checksums, read one by one or many at once.
// What is damaged throws `Corruption` with the file and the offset.
import { Corruption } from '@tidemark/core';

import { ByteReader, DecodeError } from '../columns/bytes.ts';
import { crc32c } from '../columns/codecs.ts';
import type { DiskFile } from '../disk/disk.ts';
import { BLOCK_CHECKSUM_BYTES } from './format.ts';
import type { ChunkMeta, ColumnMeta } from './format.ts';

/** Bytes of a chunk that were read at once. */
export type ReadAhead = { readonly offset: number; readonly bytes: Uint8Array };

/** Whether bytes that were read ahead contain the whole chunk. */
export function holdsChunk({ offset, bytes }: ReadAhead, chunk: ChunkMeta): boolean {
  return chunk.timeOffset >= offset && chunkEnd(chunk) <= offset + bytes.length;
}

export class SegmentBlocks {
  readonly #file: DiskFile;

  /** Takes ownership of the file. */
  constructor(file: DiskFile) {
    this.#file = file;
  }

  get path(): string {
    return this.#file.path;
  }

  close(): void {
    this.#file.close();
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
    this.check(count === size, 'chunk is cut off', chunk.timeOffset);
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

  /** A block without its checksum. */
  read(offset: number, length: number): Uint8Array {
    return this.#readTo(new Uint8Array(length + BLOCK_CHECKSUM_BYTES), offset);
  }

  /**
   * A block without its checksum, from the file or from what was read ahead of it, for decoders,
   * which copy it: it is valid until the next view of any segment.
   */
  view(offset: number, length: number, whole?: ReadAhead): Uint8Array {
    const sizeBytes = length + BLOCK_CHECKSUM_BYTES;
    if (whole === undefined) return this.#readTo(viewOf(sizeBytes), offset);
    const start = offset - whole.offset;
    const block = whole.bytes.subarray(start, start + sizeBytes);
    this.check(block.length === sizeBytes, 'block is cut off', offset);
    this.#checkBlock(block, offset);
    return block.subarray(0, length);
  }

  #readTo(bytes: Uint8Array, offset: number): Uint8Array {
    const count = this.#file.read(bytes, offset);
    this.check(count === bytes.length, 'block is cut off', offset);
    this.#checkBlock(bytes, offset);
    return bytes.subarray(0, bytes.length - BLOCK_CHECKSUM_BYTES);
  }

  /** Bytes of the file, unchecked. */
  bytesAt(offset: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    const count = this.#file.read(bytes, offset);
    this.check(count === length, 'block is cut off', offset);
    return bytes;
  }

  /** Verifies a block that is too large to be read at once. */
  checkLarge(offset: number, length: number): void {
    let crc = 0;
    for (let at = 0; at < length; at += CHECKED_BYTES) {
      crc = crc32c(this.bytesAt(offset + at, Math.min(CHECKED_BYTES, length - at)), crc);
    }
    const expected = new ByteReader(this.bytesAt(offset + length, BLOCK_CHECKSUM_BYTES)).u32();
    this.check(crc === expected, 'block checksum', offset);
  }

  #checkBlock(bytes: Uint8Array, offset: number): void {
    const length = bytes.length - BLOCK_CHECKSUM_BYTES;
    const expected = new ByteReader(bytes, length).u32();
    this.check(crc32c(bytes.subarray(0, length)) === expected, 'block checksum', offset);
  }

  /** Throws `Corruption` unless the condition is true. */
  check(condition: boolean, what: string, offset: number): void {
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

const CHECKED_BYTES = 1 << 20;

/** Larger blocks are rare. */
const VIEW_BYTES_MAX = 1 << 20;
let viewed = new Uint8Array(0);

/** So many bytes of one array of the thread: an array for each block is a third of a search. */
function viewOf(sizeBytes: number): Uint8Array {
  if (sizeBytes > VIEW_BYTES_MAX) return new Uint8Array(sizeBytes);
  if (sizeBytes > viewed.length) viewed = new Uint8Array(Math.min(VIEW_BYTES_MAX, 2 * sizeBytes));
  return viewed.subarray(0, sizeBytes);
}

/** One more read costs about as much as reading this many unneeded bytes. */
const READ_AHEAD_WASTE_BYTES = 16 << 10;
/**
 * Blocks of larger chunks are read one by one: a condition often makes reading the largest of them
 * unnecessary.
 */
const READ_AHEAD_BYTES_MAX = 64 << 10;
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
