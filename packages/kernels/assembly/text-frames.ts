// Reads frames of texts: rows one after another in groups that are compressed on their own, so that
// a few rows are read without unpacking the others. Format: docs/formats/encodings.md, "Strings".
import {
  AREA_FILTERS,
  AREA_FRAMES,
  ERROR_TOO_LARGE,
  ERROR_TRUNCATED,
  ERROR_VALUE,
} from './abi.gen';
import { at, end, failed, moveTo, openReader, readByte, readCount, remaining } from './bytes';
import { crc32c } from './crc32c';
import { decodeInts } from './ints';
import { lz4Decompress } from './lz4';
import { scratch } from './memory';
import { readSequences } from './sequences';
import { isFilterSize, lookFor, mayContain } from './text-filter';

/** Most rows of a frame. */
export const FRAME_ROWS_MAX: u32 = 256;
/** Largest size of all texts: readers make room for all of them. */
export const FRAMED_BYTES_MAX: u32 = 1 << 23;

/** Bytes of the size of the head. */
export const HEAD_SIZE_BYTES: usize = 4;
export const CHECKSUM_BYTES: usize = 4;

// Forms of the texts of a frame.
export const FORM_STORED: u8 = 0;
export const FORM_SEQUENCES: u8 = 1;

// The opened frames.
let frameCount: u32 = 0;
/** Whether frames have lengths of their own. */
let haveLengths: bool = false;
// Of each frame the first row, where its texts, its packed bytes and its filter begin, each with
// the end of the last one (u32 each), and its checksum.
let rowStarts: usize = 0;
let textStarts: usize = 0;
let packedStarts: usize = 0;
let filterStarts: usize = 0;
let checksums: usize = 0;
let filters: usize = 0;

export function stringFrameCount(): u32 {
  return frameCount;
}

/**
 * Tables of the frames, one after another, with room for `stringFrameCount` + 1 numbers of eight
 * bytes, of which there are as many of four: the first rows, where texts, packed bytes and filters
 * begin, each with the end of the last one, and the checksums.
 */
export function stringFrameTables(): usize {
  return rowStarts;
}

/** Size of the filters with their checksum; 0 when the encoding has none. */
export function stringFilterBytes(): u32 {
  if (!haveLengths) return 0;
  return load<u32>(filterStarts + <usize>frameCount * 4) + <u32>CHECKSUM_BYTES;
}

/** Size of a block before its frames, which follows the encoding; 0 when it is not there. */
export function readHeadSize(): u32 {
  if (remaining() < HEAD_SIZE_BYTES) return 0;
  const size = load<u32>(at);
  moveTo(at + HEAD_SIZE_BYTES);
  return size;
}

/** Verifies the head of a block that begins at `block`. Returns 0 or an error. */
function checkHead(block: usize, size: usize): i32 {
  if (size < at - block + CHECKSUM_BYTES || size > at - block + remaining()) return ERROR_TRUNCATED;
  const checked = size - CHECKSUM_BYTES;
  return crc32c(block, checked, 0) === load<u32>(block + checked) ? 0 : ERROR_VALUE;
}

/** Makes room for the tables of `frames` frames. */
function openTables(frames: u32): bool {
  frameCount = frames;
  const list = <usize>(frames + 1) * 8;
  rowStarts = scratch(AREA_FRAMES, 5 * list);
  textStarts = rowStarts + list;
  packedStarts = textStarts + list;
  filterStarts = packedStarts + list;
  checksums = filterStarts + list;
  return rowStarts !== 0;
}

/**
 * Reads a number for each frame, of which each is at most `most` and all are at most `sum`, as
 * where something begins. Returns 0 or an error.
 */
function readStarts(starts: usize, most: u32, sum: u32): i32 {
  const error = decodeInts(frameCount, starts);
  if (error < 0) return error;
  // Turns sizes into places: writing 4 bytes never overtakes reading 8.
  let start: u32 = 0;
  for (let i: u32 = 0; i < frameCount; i++) {
    const size = load<u64>(starts + <usize>i * 8);
    if (size > <u64>min<u32>(most, sum - start)) return ERROR_VALUE;
    store<u32>(starts + <usize>i * 4, start);
    start += <u32>size;
  }
  store<u32>(starts + <usize>frameCount * 4, start);
  return 0;
}

/** What `readStarts` read, of the frame. */
@inline
function sizeAt(starts: usize, frame: u32): u32 {
  return load<u32>(starts + <usize>frame * 4, 4) - load<u32>(starts + <usize>frame * 4);
}

/** Takes the checksums, with which a head of `size` bytes ends, and moves behind it. */
function readChecksums(headEnd: usize): i32 {
  const bytes = <usize>frameCount * CHECKSUM_BYTES;
  if (at + bytes + CHECKSUM_BYTES !== headEnd) return ERROR_VALUE;
  memory.copy(checksums, at, bytes);
  moveTo(headEnd);
  return 0;
}

/**
 * Opens `count` texts in frames of as many rows, whose block begins at `block`, up to the lengths
 * of the texts. Returns the number of rows of a frame, or an error.
 */
export function openEvenFrames(block: usize, size: usize, count: u32): i32 {
  const error = checkHead(block, size);
  if (error < 0) return error;
  const rows = readCount(FRAME_ROWS_MAX);
  if (failed) return ERROR_TRUNCATED;
  if (rows === 0 || count === 0) return ERROR_VALUE;
  haveLengths = false;
  return openTables((count + rows - 1) / rows) ? <i32>rows : ERROR_TOO_LARGE;
}

/**
 * Reads what follows the lengths, of which `offsets` are made, and moves behind the head. Returns 0
 * or an error.
 */
export function readEvenFrames(offsets: usize, count: u32, rows: u32, headEnd: usize): i32 {
  const bytes = load<u32>(offsets + <usize>count * 4);
  if (bytes > FRAMED_BYTES_MAX) return ERROR_TOO_LARGE;
  for (let frame: u32 = 0; frame <= frameCount; frame++) {
    const row = min<u32>(count, frame * rows);
    store<u32>(rowStarts + <usize>frame * 4, row);
    store<u32>(textStarts + <usize>frame * 4, load<u32>(offsets + <usize>row * 4));
  }
  const error = readStarts(packedStarts, bytes, bytes);
  return error < 0 ? error : readChecksums(headEnd);
}

/**
 * Opens `count` texts in frames with their own lengths, whose block begins at `block`, and moves
 * behind the head. Returns 0 or an error.
 */
export function openFrames(block: usize, size: usize, count: u32): i32 {
  let error = checkHead(block, size);
  if (error < 0) return error;
  const frames = readCount(count);
  if (failed) return ERROR_TRUNCATED;
  if (frames === 0) return ERROR_VALUE;
  haveLengths = true;
  if (!openTables(frames)) return ERROR_TOO_LARGE;
  error = readStarts(rowStarts, FRAME_ROWS_MAX, count);
  if (error < 0) return error;
  if (load<u32>(rowStarts + <usize>frames * 4) !== count) return ERROR_VALUE;
  error = readStarts(textStarts, FRAMED_BYTES_MAX, FRAMED_BYTES_MAX);
  if (error < 0) return error;
  error = readStarts(packedStarts, i32.MAX_VALUE, i32.MAX_VALUE);
  if (error < 0) return error;
  error = readStarts(filterStarts, i32.MAX_VALUE, i32.MAX_VALUE);
  if (error < 0) return error;
  for (let i: u32 = 0; i < frames; i++) {
    if (sizeAt(rowStarts, i) === 0) return ERROR_VALUE;
    if (!isFilterSize(<u64>sizeAt(filterStarts, i))) return ERROR_VALUE;
  }
  return readChecksums(block + size);
}

/** Size of the texts of all opened frames. */
export function frameTextBytes(): u32 {
  return load<u32>(textStarts + <usize>frameCount * 4);
}

/** Takes the filters of the opened frames. Returns 0 or an error. */
export function openStringFilters(address: usize): i32 {
  const bytes = <usize>load<u32>(filterStarts + <usize>frameCount * 4);
  if (crc32c(address, bytes, 0) !== load<u32>(address + bytes)) return ERROR_VALUE;
  filters = scratch(AREA_FILTERS, bytes);
  if (filters === 0) return ERROR_TOO_LARGE;
  memory.copy(filters, address, bytes);
  return 0;
}

/**
 * Sets a byte for each frame whose texts may contain the needle, and clears the others. Without
 * filters, all may.
 */
export function markFrames(needle: usize, length: usize, marks: usize): void {
  memory.fill(marks, 1, <usize>frameCount);
  if (!haveLengths) return;
  lookFor(needle, length);
  for (let frame: u32 = 0; frame < frameCount; frame++) {
    const filter = filters + <usize>load<u32>(filterStarts + <usize>frame * 4);
    const bytes = <usize>sizeAt(filterStarts, frame);
    if (!mayContain(filter, bytes)) store<u8>(marks + <usize>frame, 0);
  }
}

let unpacked: u32 = 0;

/** How many frames were unpacked since the instance was made. */
export function unpackedStringFrames(): u32 {
  return unpacked;
}

/** Whether the packed frame at `start` is the one that was written. */
export function isFrame(frame: u32, start: usize): bool {
  if (frame >= frameCount) return false;
  const size = <usize>sizeAt(packedStarts, frame);
  return crc32c(start, size, 0) === load<u32>(checksums + <usize>frame * 4);
}

/**
 * Unpacks the packed frame at `start` to its place among the texts at `texts`, which has room for
 * all. Where the frame has lengths of its own, writes to `offsets` (u32 each) where each of its
 * texts begins, and the end of the last one; else they are there. The beginning of the next frame
 * is overwritten, so frames are unpacked in order. Returns 0 or an error.
 */
export function unpackFrame(frame: u32, start: usize, offsets: usize, texts: usize): i32 {
  const from = load<u32>(textStarts + <usize>frame * 4);
  const size = <usize>sizeAt(textStarts, frame);
  const packedSize = <usize>sizeAt(packedStarts, frame);
  const dst = texts + <usize>from;
  unpacked++;
  if (haveLengths) {
    openReader(start, packedSize);
    const own = offsets + <usize>load<u32>(rowStarts + <usize>frame * 4) * 4;
    const error = readLengths(own, sizeAt(rowStarts, frame), from, <u32>size);
    return error < 0 ? error : readTexts(dst, size);
  }
  if (packedSize === size) {
    memory.copy(dst, start, size);
    return 0;
  }
  return packedSize < size && lz4Decompress(start, packedSize, dst, size) ? 0 : ERROR_VALUE;
}

const frameLengths: usize = memory.data(256 * 8, 16);

/** Reads the lengths of the texts of a frame as offsets from `from` on. Returns 0 or an error. */
function readLengths(offsets: usize, rows: u32, from: u32, size: u32): i32 {
  const error = decodeInts(rows, frameLengths);
  if (error < 0) return error;
  let total: u32 = 0;
  for (let i: u32 = 0; i < rows; i++) {
    store<u32>(offsets + <usize>i * 4, from + total);
    const length = load<u64>(frameLengths + <usize>i * 8);
    if (length > <u64>(size - total)) return ERROR_VALUE;
    total += <u32>length;
  }
  store<u32>(offsets + <usize>rows * 4, from + total);
  return total === size ? 0 : ERROR_VALUE;
}

/** Reads the texts of a frame, which the reader ends with. Returns 0 or an error. */
function readTexts(dst: usize, size: usize): i32 {
  const form = <u8>readByte();
  if (failed) return ERROR_TRUNCATED;
  if (form === FORM_STORED) {
    if (remaining() !== size) return ERROR_VALUE;
    memory.copy(dst, at, size);
    return 0;
  }
  if (form !== FORM_SEQUENCES) return ERROR_VALUE;
  const error = readSequences(dst, size);
  if (error < 0) return error;
  return remaining() === 0 ? 0 : ERROR_VALUE;
}

/**
 * Unpacks all frames, in front of whose filters the reader is, and moves behind them. Returns 0 or
 * an error.
 */
export function unpackFrames(offsets: usize, texts: usize): i32 {
  const first = at + <usize>stringFilterBytes();
  const blockEnd = end;
  const size = <usize>load<u32>(packedStarts + <usize>frameCount * 4);
  if (first > blockEnd || size > blockEnd - first) return ERROR_TRUNCATED;
  for (let frame: u32 = 0; frame < frameCount; frame++) {
    const start = first + <usize>load<u32>(packedStarts + <usize>frame * 4);
    const error = unpackFrame(frame, start, offsets, texts);
    if (error < 0) return error;
  }
  openReader(first + size, blockEnd - first - size);
  return 0;
}
