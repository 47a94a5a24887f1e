// Codec for strings: the distinct ones in the order of appearance, compressed together with LZ4,
// and a code per row; or, where most are distinct, all of them in frames. Format:
// docs/formats/encodings.md, "Strings".
import {
  AREA_CODES,
  AREA_DICTIONARY,
  AREA_LENGTHS,
  AREA_PACKED_TEXTS,
  AREA_TEXTS,
  BLOCK_VALUES_MAX,
  ERROR_ENCODING,
  ERROR_TOO_LARGE,
  ERROR_TRUNCATED,
  ERROR_VALUE,
  REFERENCE_ADDRESS,
  REFERENCE_BYTES,
  REFERENCE_LENGTH,
  EFFORT_SMALL,
  STRING_DICTIONARY,
  STRING_EVEN_FRAMES,
  STRING_FRAMES,
} from './abi.gen';
import { at, failed, moveTo, readByte, readCount, remaining, writeVarint } from './bytes';
import { hashBytes } from './hash';
import { decodeInts, encodeInts } from './ints';
import { lz4Bound, lz4Compress, lz4Decompress } from './lz4';
import { scratch } from './memory';
import {
  frameTextBytes,
  isFrame,
  openEvenFrames,
  openFrames,
  readEvenFrames,
  readHeadSize,
  unpackFrame,
  unpackFrames,
} from './text-frames';
import { encodeFrames, framesBound, prefersFrames, textBytes } from './text-pack';
import { isUtf8 } from './utf8';

const STORED: u32 = 0;
const LZ4: u32 = 1;

/** Limit of the bytes of distinct strings in one block. */
const STRING_BYTES_MAX: u32 = 1 << 28;

let dictionaryCount: u32 = 0;
let dictionaryBytes: u32 = 0;

/**
 * Assigns codes to `count` references (`REFERENCE`). Writes codes as i64 to the area of codes,
 * lengths of distinct texts as i64 to the area of lengths, and references to distinct texts after
 * the hash table. Returns false when memory is exhausted.
 */
function buildDictionary(references: usize, count: u32): bool {
  let slots: u32 = 16;
  while (slots < count * 2) slots <<= 1;
  const codes = scratch(AREA_CODES, <usize>count * 8);
  const lengths = scratch(AREA_LENGTHS, <usize>count * 8);
  const table = scratch(AREA_DICTIONARY, <usize>slots * 8 + <usize>count * REFERENCE_BYTES);
  if (codes === 0 || lengths === 0 || table === 0) return false;
  memory.fill(table, 0, <usize>slots * 8);
  const entries = table + <usize>slots * 8;
  const mask = slots - 1;
  let distinct: u32 = 0;
  let total: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const reference = references + <usize>i * REFERENCE_BYTES;
    const address = <usize>load<u32>(reference, REFERENCE_ADDRESS);
    const length = load<u32>(reference, REFERENCE_LENGTH);
    const hash = <u32>hashBytes(address, <usize>length);
    let slot = hash & mask;
    let code: u32 = 0;
    while (true) {
      const entry = table + <usize>slot * 8;
      const known = load<u32>(entry, 4);
      if (known === 0) {
        store<u32>(entry, hash);
        store<u32>(entry, distinct + 1, 4);
        const added = entries + <usize>distinct * REFERENCE_BYTES;
        store<u32>(added, <u32>address, REFERENCE_ADDRESS);
        store<u32>(added, length, REFERENCE_LENGTH);
        store<i64>(lengths + <usize>distinct * 8, <i64>length);
        total += length;
        code = distinct++;
        break;
      }
      if (load<u32>(entry) === hash) {
        const other = entries + <usize>(known - 1) * REFERENCE_BYTES;
        if (
          load<u32>(other, REFERENCE_LENGTH) === length &&
          memory.compare(<usize>load<u32>(other, REFERENCE_ADDRESS), address, <usize>length) === 0
        ) {
          code = known - 1;
          break;
        }
      }
      slot = (slot + 1) & mask;
    }
    store<i64>(codes + <usize>i * 8, <i64>code);
  }
  dictionaryCount = distinct;
  dictionaryBytes = total;
  tableEntries = entries;
  return true;
}

let tableEntries: usize = 0;

/**
 * Assigns codes without encoding the texts. Writes u32 codes to `stringCodes`. Returns the number
 * of distinct texts, or an error.
 */
export function codeStrings(references: usize, count: u32): i32 {
  if (!buildDictionary(references, count)) return ERROR_TOO_LARGE;
  decodedCodes = scratch(AREA_CODES, 0);
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(decodedCodes + <usize>i * 4, <u32>load<u64>(decodedCodes + <usize>i * 8));
  }
  return <i32>dictionaryCount;
}

/** Copies the distinct texts one after another. Returns 0 when memory is exhausted. */
function copyDistinct(): usize {
  const bytes = scratch(AREA_TEXTS, <usize>dictionaryBytes);
  if (bytes === 0) return 0;
  let position = bytes;
  for (let i: u32 = 0; i < dictionaryCount; i++) {
    const entry = tableEntries + <usize>i * REFERENCE_BYTES;
    const length = <usize>load<u32>(entry, REFERENCE_LENGTH);
    memory.copy(position, <usize>load<u32>(entry, REFERENCE_ADDRESS), length);
    position += length;
  }
  return bytes;
}

/**
 * After `codeStrings`, copies the distinct texts to `stringBytes`, and their places to
 * `stringOffsets`. Returns false when memory is exhausted.
 */
export function gatherStrings(): bool {
  decodedBytes = copyDistinct();
  decodedOffsets = scratch(AREA_LENGTHS, <usize>(dictionaryCount + 1) * 8);
  if (decodedBytes === 0 || decodedOffsets === 0) return false;
  let total: u32 = 0;
  for (let i: u32 = 0; i < dictionaryCount; i++) {
    store<u32>(decodedOffsets + <usize>i * 4, total);
    total += load<u32>(tableEntries + <usize>i * REFERENCE_BYTES, REFERENCE_LENGTH);
  }
  store<u32>(decodedOffsets + <usize>dictionaryCount * 4, total);
  decodedEntries = dictionaryCount;
  return true;
}

/** An upper bound of the encoded size of `count` strings of `bytes` bytes in all. */
export function stringsBound(count: u32, bytes: usize): usize {
  return framesBound(count, bytes);
}

/**
 * Encodes strings to `dst`, which has room for `stringsBound`, of a block that begins with the
 * count at `block`. Returns the end, or 0 when memory is exhausted or the decoder would refuse so
 * many bytes.
 */
export function encodeStrings(
  references: usize,
  count: u32,
  block: usize,
  dst: usize,
  effort: i32,
): usize {
  if (effort === EFFORT_SMALL && prefersFrames(references, count)) {
    return encodeInFrames(references, count, block, dst, effort);
  }
  if (!buildDictionary(references, count)) return 0;
  if (dictionaryBytes > STRING_BYTES_MAX) return 0;
  const bytes = copyDistinct();
  const packed = scratch(AREA_PACKED_TEXTS, lz4Bound(<usize>dictionaryBytes));
  const codes = scratch(AREA_CODES, 0);
  const lengths = scratch(AREA_LENGTHS, 0);
  if (bytes === 0 || packed === 0) return 0;
  store<u8>(dst++, <u8>STRING_DICTIONARY);
  dst = writeVarint(dst, <u64>dictionaryCount);
  dst = encodeInts(codes, count, dst, effort);
  dst = encodeInts(lengths, dictionaryCount, dst, effort);
  dst = writeVarint(dst, <u64>dictionaryBytes);
  const packedBytes = lz4Compress(bytes, <usize>dictionaryBytes, packed);
  if (packedBytes < <usize>dictionaryBytes) {
    store<u8>(dst++, <u8>LZ4);
    dst = writeVarint(dst, <u64>packedBytes);
    memory.copy(dst, packed, packedBytes);
    return dst + packedBytes;
  }
  store<u8>(dst++, <u8>STORED);
  memory.copy(dst, bytes, <usize>dictionaryBytes);
  return dst + <usize>dictionaryBytes;
}

/** As `encodeStrings`, in frames. */
function encodeInFrames(
  references: usize,
  count: u32,
  block: usize,
  dst: usize,
  effort: i32,
): usize {
  const size = textBytes(references, count);
  const bytes = scratch(AREA_TEXTS, <usize>size);
  const lengths = scratch(AREA_LENGTHS, <usize>count * 8);
  const packed = scratch(AREA_PACKED_TEXTS, framesBound(count, <usize>size));
  if (bytes === 0 || lengths === 0 || packed === 0) return 0;
  let position = bytes;
  for (let i: u32 = 0; i < count; i++) {
    const reference = references + <usize>i * REFERENCE_BYTES;
    const length = load<u32>(reference, REFERENCE_LENGTH);
    memory.copy(position, <usize>load<u32>(reference, REFERENCE_ADDRESS), <usize>length);
    store<u64>(lengths + <usize>i * 8, <u64>length);
    position += <usize>length;
  }
  store<u8>(dst++, <u8>STRING_FRAMES);
  return encodeFrames(bytes, size, lengths, count, packed, block, dst, effort);
}

// Results of the last `decodeStrings`.
let decodedCodes: usize = 0;
let decodedOffsets: usize = 0;
let decodedBytes: usize = 0;
let decodedEntries: u32 = 0;

/** A code (u32) per row. */
export function stringCodes(): usize {
  return decodedCodes;
}
/** Start of each distinct string in `stringBytes`, and the end of the last one (u32 each). */
export function stringOffsets(): usize {
  return decodedOffsets;
}
export function stringBytes(): usize {
  return decodedBytes;
}
export function stringEntries(): u32 {
  return decodedEntries;
}

function decodeLengths(count: u32): i32 {
  const lengths = scratch(AREA_LENGTHS, <usize>(count + 1) * 8);
  if (lengths === 0) return ERROR_TOO_LARGE;
  const error = decodeInts(count, lengths);
  if (error < 0) return error;
  // Turns lengths into offsets in place: writing 4 bytes never overtakes reading 8.
  let total: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const length = load<u64>(lengths + <usize>i * 8);
    if (length > <u64>(u32.MAX_VALUE - total)) return ERROR_VALUE;
    store<u32>(lengths + <usize>i * 4, total);
    total += <u32>length;
  }
  store<u32>(lengths + <usize>count * 4, total);
  decodedOffsets = lengths;
  dictionaryBytes = total;
  return 0;
}

function decodeCodes(count: u32, entries: u32): i32 {
  const codes = scratch(AREA_CODES, <usize>count * 8);
  if (codes === 0) return ERROR_TOO_LARGE;
  const error = decodeInts(count, codes);
  if (error < 0) return error;
  for (let i: u32 = 0; i < count; i++) {
    const code = load<u64>(codes + <usize>i * 8);
    if (code >= <u64>entries) return ERROR_VALUE;
    store<u32>(codes + <usize>i * 4, <u32>code);
  }
  decodedCodes = codes;
  return 0;
}

/** Bytes of the compressed texts, 0 when they are stored as they are. */
let decodedPackedBytes: usize = 0;

/** Where the texts of `decodeStringHead` begin. */
export function stringTexts(): usize {
  return at;
}
export function stringPackedBytes(): u32 {
  return <u32>decodedPackedBytes;
}

/**
 * Decodes the head before the texts of `count` strings: the functions above return codes and
 * offsets. Returns 0 or an error.
 */
export function decodeStringHead(count: u32): i32 {
  const encoding = readByte();
  if (failed) return ERROR_TRUNCATED;
  if (encoding !== STRING_DICTIONARY) return ERROR_ENCODING;
  const entries = readCount(BLOCK_VALUES_MAX);
  if (failed) return ERROR_TRUNCATED;
  let error = decodeCodes(count, entries);
  if (error < 0) return error;
  error = decodeLengths(entries);
  if (error < 0) return error;
  const size = readCount(u32.MAX_VALUE);
  const form = readByte();
  if (failed) return ERROR_TRUNCATED;
  if (size !== dictionaryBytes || form > LZ4) return ERROR_VALUE;
  decodedEntries = entries;
  decodedPackedBytes = form === LZ4 ? <usize>readCount(u32.MAX_VALUE) : 0;
  if (failed) return ERROR_TRUNCATED;
  return form === LZ4 && decodedPackedBytes === 0 ? ERROR_VALUE : 0;
}

/**
 * Whether the decoded texts [from, to) are well-formed UTF-8: only files of old versions have
 * others.
 */
export function areStringsUtf8(from: u32, to: u32): bool {
  const first = <usize>load<u32>(decodedOffsets + <usize>from * 4);
  const end = <usize>load<u32>(decodedOffsets + <usize>to * 4);
  if (isAscii(decodedBytes + first, end - first)) return true;
  for (let i = from; i < to; i++) {
    const place = decodedOffsets + <usize>i * 4;
    const start = load<u32>(place);
    if (!isUtf8(decodedBytes + <usize>start, <usize>(load<u32>(place, 4) - start))) return false;
  }
  return true;
}

function isAscii(bytes: usize, length: usize): bool {
  const end = bytes + length;
  while (bytes + 16 <= end) {
    if (i8x16.bitmask(v128.load(bytes)) !== 0) return false;
    bytes += 16;
  }
  for (; bytes < end; bytes++) if (load<u8>(bytes) > 0x7f) return false;
  return true;
}

/** Whether the strings at the reader's position are in frames. */
export function isFramed(): bool {
  if (remaining() === 0) return false;
  const encoding = <u32>load<u8>(at);
  return encoding === STRING_FRAMES || encoding === STRING_EVEN_FRAMES;
}

/**
 * Size of the head of a block of framed strings, after `startBlock` of at least its first bytes; 0
 * for another encoding.
 */
export function stringHeadBytes(): u32 {
  if (!isFramed()) return 0;
  readByte();
  return readHeadSize();
}

/**
 * Opens `count` strings in frames, whose block begins at `block`, after `startBlock`. Needs no more
 * of it than the head. Once a frame is unpacked, `stringOffsets` returns where each of its texts
 * begins in `stringBytes`. Returns 0 or an error.
 */
export function openStringFrames(block: usize, count: u32): i32 {
  const areEven = remaining() > 0 && <u32>load<u8>(at) === STRING_EVEN_FRAMES;
  const size = <usize>stringHeadBytes();
  const error = areEven ? openEven(block, size, count) : openFrames(block, size, count);
  if (error < 0) return error;
  decodedEntries = count;
  if (!areEven) decodedOffsets = scratch(AREA_LENGTHS, <usize>(count + 1) * 4);
  decodedBytes = scratch(AREA_TEXTS, <usize>frameTextBytes());
  return decodedBytes === 0 || decodedOffsets === 0 ? ERROR_TOO_LARGE : 0;
}

function openEven(block: usize, size: usize, count: u32): i32 {
  const rows = openEvenFrames(block, size, count);
  if (rows < 0) return rows;
  const error = decodeLengths(count);
  if (error < 0) return error;
  return readEvenFrames(decodedOffsets, count, <u32>rows, block + size);
}

/**
 * Verifies and unpacks one of the opened frames, which lies at `start`; see `unpackFrame`. Returns
 * 0 or an error.
 */
export function unpackStringFrame(frame: u32, start: usize): i32 {
  if (!isFrame(frame, start)) return ERROR_VALUE;
  return unpackFrame(frame, start, decodedOffsets, decodedBytes);
}

/** All frames, with a code per row as a dictionary has. Returns 0 or an error. */
function decodeFrames(block: usize, count: u32): i32 {
  const error = openStringFrames(block, count);
  if (error < 0) return error;
  decodedCodes = scratch(AREA_CODES, <usize>count * 4);
  if (decodedCodes === 0) return ERROR_TOO_LARGE;
  for (let i: u32 = 0; i < count; i++) store<u32>(decodedCodes + <usize>i * 4, i);
  return unpackFrames(decodedOffsets, decodedBytes);
}

/**
 * Decodes `count` strings of a block that begins at `block`. The functions above return the
 * results. Returns 0 or an error.
 */
export function decodeStrings(block: usize, count: u32): i32 {
  if (isFramed()) return decodeFrames(block, count);
  const error = decodeStringHead(count);
  if (error < 0) return error;
  const size = dictionaryBytes;
  if (size > STRING_BYTES_MAX) return ERROR_TOO_LARGE;
  const packedBytes = decodedPackedBytes;
  if (packedBytes === 0) {
    if (<usize>size > remaining()) return ERROR_TRUNCATED;
    decodedBytes = at;
    moveTo(at + <usize>size);
    return 0;
  }
  if (packedBytes > remaining()) return ERROR_TRUNCATED;
  // A byte of LZ4 gives 255 bytes at most: refuses to allocate memory for a size that cannot be
  // true.
  if (<u64>size > <u64>packedBytes * 255) return ERROR_VALUE;
  const bytes = scratch(AREA_TEXTS, <usize>size);
  if (bytes === 0) return ERROR_TOO_LARGE;
  if (!lz4Decompress(at, packedBytes, bytes, <usize>size)) return ERROR_VALUE;
  decodedBytes = bytes;
  moveTo(at + packedBytes);
  return 0;
}
