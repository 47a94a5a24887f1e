// Frames of texts: rows one after another in groups that are compressed on their own, so that a few
// rows are read without unpacking the others. Format: docs/formats/encodings.md, "Strings".
import {
  AREA_FRAMES,
  ERROR_TOO_LARGE,
  ERROR_TRUNCATED,
  ERROR_VALUE,
  REFERENCE_ADDRESS,
  REFERENCE_BYTES,
  REFERENCE_LENGTH,
} from './abi.gen';
import { at, failed, moveTo, readCount, remaining, writeVarint } from './bytes';
import { crc32c } from './crc32c';
import { hashBytes } from './hash';
import { decodeInts, encodeInts } from './ints';
import { lz4Compress, lz4Decompress } from './lz4';
import { scratch } from './memory';

/** Size of the texts of a frame, about, and most rows of one. */
const FRAME_BYTES: usize = 32768;
const FRAME_ROWS_MAX: u32 = 256;
/** Largest size of all texts: readers make room for all of them. */
const FRAMED_BYTES_MAX: u32 = 1 << 23;

/** Fewer rows share a dictionary. */
const FRAMED_ROWS_MIN: u32 = 64;
const SAMPLED_ROWS: u32 = 256;
const SAMPLE_SLOTS: u32 = 1024;
const sample: usize = memory.data(1024 * 4, 16);

/**
 * Whether frames are better than a dictionary: most texts of a sample occur once in it, and all fit
 * in the memory of a reader.
 */
export function prefersFrames(references: usize, count: u32): bool {
  if (count < FRAMED_ROWS_MIN || textBytes(references, count) > FRAMED_BYTES_MAX) return false;
  memory.fill(sample, 0, SAMPLE_SLOTS * 4);
  const sampled = min(count, SAMPLED_ROWS);
  let distinct: u32 = 0;
  for (let i: u32 = 0; i < sampled; i++) {
    const row = <u32>((<u64>i * <u64>count) / <u64>sampled);
    const reference = references + <usize>row * REFERENCE_BYTES;
    const length = <usize>load<u32>(reference, REFERENCE_LENGTH);
    const hash = <u32>hashBytes(<usize>load<u32>(reference, REFERENCE_ADDRESS), length) | 1;
    let slot = (hash >> 1) & (SAMPLE_SLOTS - 1);
    while (true) {
      const known = load<u32>(sample + <usize>slot * 4);
      if (known === hash) break;
      if (known === 0) {
        store<u32>(sample + <usize>slot * 4, hash);
        distinct++;
        break;
      }
      slot = (slot + 1) & (SAMPLE_SLOTS - 1);
    }
  }
  return distinct * 2 > sampled;
}

/** Size of all texts, at most the largest number of 32 bits. */
export function textBytes(references: usize, count: u32): u32 {
  let bytes: u64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    bytes += <u64>load<u32>(references + <usize>i * REFERENCE_BYTES, REFERENCE_LENGTH);
  }
  return <u32>min<u64>(bytes, u32.MAX_VALUE);
}

/** Bytes of the size of the head. */
const HEAD_SIZE_BYTES: usize = 4;
const CHECKSUM_BYTES: usize = 4;

/**
 * Writes the frames of `count` texts of `bytes` bytes, which lie one after another at `texts`, and
 * whose lengths are at `lengths` (i64 each), to a block that begins at `block`. `packed` has room
 * for them compressed. Returns the end, or 0 when memory is exhausted.
 */
export function encodeFrames(
  texts: usize,
  bytes: u32,
  lengths: usize,
  count: u32,
  packed: usize,
  block: usize,
  dst: usize,
  effort: i32,
): usize {
  const fitting = bytes === 0 ? count : <u32>((<u64>FRAME_BYTES * <u64>count) / <u64>bytes);
  const rows = max<u32>(1, min<u32>(FRAME_ROWS_MAX, fitting));
  const frames = (count + rows - 1) / rows;
  const sizes = scratch(AREA_FRAMES, <usize>frames * 8);
  if (sizes === 0) return 0;
  let from = texts;
  let to = packed;
  for (let frame: u32 = 0; frame < frames; frame++) {
    let size: usize = 0;
    const last = min<u32>(count, (frame + 1) * rows);
    for (let row = frame * rows; row < last; row++) {
      size += <usize>load<u64>(lengths + <usize>row * 8);
    }
    let packedSize = lz4Compress(from, size, to);
    if (packedSize >= size) {
      memory.copy(to, from, size);
      packedSize = size;
    }
    store<u64>(sizes + <usize>frame * 8, <u64>packedSize);
    from += size;
    to += packedSize;
  }
  const headSize = dst;
  dst = writeVarint(dst + HEAD_SIZE_BYTES, <u64>rows);
  dst = encodeInts(lengths, count, dst, effort);
  dst = encodeInts(sizes, frames, dst, effort);
  let frame = packed;
  for (let i: u32 = 0; i < frames; i++) {
    const size = <usize>load<u64>(sizes + <usize>i * 8);
    store<u32>(dst, crc32c(frame, size, 0));
    dst += CHECKSUM_BYTES;
    frame += size;
  }
  store<u32>(headSize, <u32>(dst + CHECKSUM_BYTES - block));
  store<u32>(dst, crc32c(block, dst - block, 0));
  dst += CHECKSUM_BYTES;
  memory.copy(dst, packed, to - packed);
  return dst + (to - packed);
}

// The opened frames.
let frameRows: u32 = 0;
let frameCount: u32 = 0;
let rowCount: u32 = 0;
/** Where each packed frame begins behind the head, and the end of the last one (u32 each). */
let starts: usize = 0;
/** Of each packed frame (u32 each). */
let checksums: usize = 0;

/** Rows of a frame; the last one may have fewer. */
export function stringFrameRows(): u32 {
  return frameRows;
}

/** Where the packed frames begin (u32 each), counted from the end of the head. */
export function stringFrames(): usize {
  return starts;
}

/** Size of a block before its frames, which follows the encoding; 0 when it is not there. */
export function readHeadSize(): u32 {
  if (remaining() < HEAD_SIZE_BYTES) return 0;
  const size = load<u32>(at);
  moveTo(at + HEAD_SIZE_BYTES);
  return size;
}

/**
 * Verifies the head of a block that begins at `block`, and reads the number of rows of a frame.
 * Returns 0 or an error.
 */
export function openHead(block: usize, size: usize): i32 {
  if (size < at - block + CHECKSUM_BYTES || size > at - block + remaining()) return ERROR_TRUNCATED;
  const checked = size - CHECKSUM_BYTES;
  if (crc32c(block, checked, 0) !== load<u32>(block + checked)) return ERROR_VALUE;
  frameRows = readCount(FRAME_ROWS_MAX);
  if (failed) return ERROR_TRUNCATED;
  return frameRows === 0 ? ERROR_VALUE : 0;
}

/**
 * Reads where the frames of `count` texts are, and moves to the first. `bytes` is the size of the
 * texts, `headEnd` where the head ends. Returns 0 or an error.
 */
export function readFrameTable(count: u32, bytes: u32, headEnd: usize): i32 {
  if (bytes > FRAMED_BYTES_MAX) return ERROR_TOO_LARGE;
  rowCount = count;
  frameCount = (count + frameRows - 1) / frameRows;
  const table = <usize>(frameCount + 1) * 8;
  starts = scratch(AREA_FRAMES, table + <usize>frameCount * 4);
  if (starts === 0) return ERROR_TOO_LARGE;
  checksums = starts + table;
  const error = decodeInts(frameCount, starts);
  if (error < 0) return error;
  // Turns sizes into addresses in place: writing 4 bytes never overtakes reading 8.
  let start: u32 = 0;
  for (let i: u32 = 0; i < frameCount; i++) {
    const size = load<u64>(starts + <usize>i * 8);
    if (size > <u64>(bytes - start)) return ERROR_VALUE;
    store<u32>(starts + <usize>i * 4, start);
    start += <u32>size;
  }
  store<u32>(starts + <usize>frameCount * 4, start);
  if (at + <usize>frameCount * CHECKSUM_BYTES + CHECKSUM_BYTES !== headEnd) return ERROR_VALUE;
  memory.copy(checksums, at, <usize>frameCount * CHECKSUM_BYTES);
  moveTo(headEnd);
  return 0;
}

let unpacked: u32 = 0;

/** How many frames were unpacked since the instance was made. */
export function unpackedStringFrames(): u32 {
  return unpacked;
}

/** Whether the packed frame at `start` is the one that was written. */
export function isFrame(frame: u32, start: usize): bool {
  if (frame >= frameCount) return false;
  const place = starts + <usize>frame * 4;
  const size = <usize>(load<u32>(place, 4) - load<u32>(place));
  return crc32c(start, size, 0) === load<u32>(checksums + <usize>frame * 4);
}

/**
 * Unpacks the packed frame at `start` to its place among the texts at `texts`,
 * which has room for all: `offsets` (u32 each) says where each begins. The beginning of the next
 * frame is overwritten, so frames are unpacked in order. Returns 0 or an error.
 */
export function unpackFrame(frame: u32, start: usize, offsets: usize, texts: usize): i32 {
  const last = min<u32>(rowCount, (frame + 1) * frameRows);
  const from = load<u32>(offsets + <usize>frame * <usize>frameRows * 4);
  const size = <usize>(load<u32>(offsets + <usize>last * 4) - from);
  const place = starts + <usize>frame * 4;
  const packedSize = <usize>(load<u32>(place, 4) - load<u32>(place));
  const dst = texts + <usize>from;
  unpacked++;
  if (packedSize === size) {
    memory.copy(dst, start, size);
    return 0;
  }
  return packedSize < size && lz4Decompress(start, packedSize, dst, size) ? 0 : ERROR_VALUE;
}

/** Unpacks all frames, which the reader is at, and moves behind them. Returns 0 or an error. */
export function unpackFrames(offsets: usize, texts: usize): i32 {
  const first = at;
  const size = <usize>load<u32>(starts + <usize>frameCount * 4);
  if (size > remaining()) return ERROR_TRUNCATED;
  for (let frame: u32 = 0; frame < frameCount; frame++) {
    const start = first + <usize>load<u32>(starts + <usize>frame * 4);
    const error = unpackFrame(frame, start, offsets, texts);
    if (error < 0) return error;
  }
  moveTo(first + size);
  return 0;
}
