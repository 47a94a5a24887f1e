// Strings: the distinct ones once, in order of appearance, compressed together with LZ4, and a code
// per row. Format: docs/formats/encodings.md, "Strings".
import {
  at,
  BLOCK_VALUES_MAX,
  ERROR_ENCODING,
  ERROR_TOO_LARGE,
  ERROR_TRUNCATED,
  ERROR_VALUE,
  failed,
  moveTo,
  readByte,
  readCount,
  remaining,
  writeVarint,
} from './bytes';
import { hashBytes } from './hash';
import { decodeInts, encodeInts } from './ints';
import { lz4Bound, lz4Compress, lz4Decompress } from './lz4';
import { scratch } from './memory';

export const STRING_DICTIONARY: u32 = 0x30;
const STORED: u32 = 0;
const LZ4: u32 = 1;

/** Most bytes of distinct strings in one block. */
const STRING_BYTES_MAX: u32 = 1 << 28;

const SCRATCH_CODES = 2;
const SCRATCH_LENGTHS = 3;
const SCRATCH_BYTES = 4;
const SCRATCH_TABLE = 5;
const SCRATCH_PACKED = 6;

let dictionaryCount: u32 = 0;
let dictionaryBytes: u32 = 0;

/**
 * Gives each of `count` references (address u32, length u32) the code of its text: codes as i64 in
 * scratch 2, lengths of distinct texts as i64 in scratch 3, references to them in scratch 5 behind
 * the table. False without memory.
 */
function buildDictionary(references: usize, count: u32): bool {
  let slots: u32 = 16;
  while (slots < count * 2) slots <<= 1;
  const codes = scratch(SCRATCH_CODES, <usize>count * 8);
  const lengths = scratch(SCRATCH_LENGTHS, <usize>count * 8);
  const table = scratch(SCRATCH_TABLE, <usize>slots * 8 + <usize>count * 8);
  if (codes === 0 || lengths === 0 || table === 0) return false;
  memory.fill(table, 0, <usize>slots * 8);
  const entries = table + <usize>slots * 8;
  const mask = slots - 1;
  let distinct: u32 = 0;
  let total: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const address = <usize>load<u32>(references + <usize>i * 8);
    const length = load<u32>(references + <usize>i * 8, 4);
    const hash = <u32>hashBytes(address, <usize>length, 0);
    let slot = hash & mask;
    let code: u32 = 0;
    while (true) {
      const entry = table + <usize>slot * 8;
      const known = load<u32>(entry, 4);
      if (known === 0) {
        store<u32>(entry, hash);
        store<u32>(entry, distinct + 1, 4);
        store<u32>(entries + <usize>distinct * 8, <u32>address);
        store<u32>(entries + <usize>distinct * 8, length, 4);
        store<i64>(lengths + <usize>distinct * 8, <i64>length);
        total += length;
        code = distinct++;
        break;
      }
      if (load<u32>(entry) === hash) {
        const other = entries + <usize>(known - 1) * 8;
        if (
          load<u32>(other, 4) === length &&
          memory.compare(<usize>load<u32>(other), address, <usize>length) === 0
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
 * Codes texts without encoding them: u32 codes at `stringCodes`, references to the distinct texts
 * at
 * `stringReferences`. Returns how many there are, or an error.
 */
export function codeStrings(references: usize, count: u32): i32 {
  if (!buildDictionary(references, count)) return ERROR_TOO_LARGE;
  decodedCodes = scratch(SCRATCH_CODES, 0);
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(decodedCodes + <usize>i * 4, <u32>load<u64>(decodedCodes + <usize>i * 8));
  }
  return <i32>dictionaryCount;
}

export function stringReferences(): usize {
  return tableEntries;
}

/** Upper bound of an encoded block of `count` strings that are `bytes` long together. */
export function stringsBound(count: u32, bytes: usize): usize {
  return <usize>count * 18 + lz4Bound(bytes) + 256;
}

/** Writes the block body; `dst` has room for `stringsBound`. Returns the end, 0 without memory. */
export function encodeStrings(references: usize, count: u32, dst: usize, effort: i32): usize {
  if (!buildDictionary(references, count)) return 0;
  const bytes = scratch(SCRATCH_BYTES, <usize>dictionaryBytes);
  const packed = scratch(SCRATCH_PACKED, lz4Bound(<usize>dictionaryBytes));
  const codes = scratch(SCRATCH_CODES, 0);
  const lengths = scratch(SCRATCH_LENGTHS, 0);
  if (bytes === 0 || packed === 0) return 0;
  let position = bytes;
  for (let i: u32 = 0; i < dictionaryCount; i++) {
    const entry = tableEntries + <usize>i * 8;
    const length = <usize>load<u32>(entry, 4);
    memory.copy(position, <usize>load<u32>(entry), length);
    position += length;
  }
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

// What the last decodeStrings left behind.
let decodedCodes: usize = 0;
let decodedOffsets: usize = 0;
let decodedBytes: usize = 0;
let decodedEntries: u32 = 0;

/** u32 per row. */
export function stringCodes(): usize {
  return decodedCodes;
}
/** u32 per distinct string and one more: where it starts in `stringBytes`. */
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
  const lengths = scratch(SCRATCH_LENGTHS, <usize>(count + 1) * 8);
  if (lengths === 0) return ERROR_TOO_LARGE;
  const error = decodeInts(count, lengths);
  if (error < 0) return error;
  // Turned into offsets in place: writing 4 bytes never overtakes reading 8.
  let total: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const length = load<u64>(lengths + <usize>i * 8);
    if (length > <u64>(STRING_BYTES_MAX - total)) return ERROR_VALUE;
    store<u32>(lengths + <usize>i * 4, total);
    total += <u32>length;
  }
  store<u32>(lengths + <usize>count * 4, total);
  decodedOffsets = lengths;
  dictionaryBytes = total;
  return 0;
}

function decodeCodes(count: u32, entries: u32): i32 {
  const codes = scratch(SCRATCH_CODES, <usize>count * 8);
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

/**
 * Reads the block body of `count` strings; results through the functions above. Returns 0 or an
 * error.
 */
export function decodeStrings(count: u32): i32 {
  const encoding = readByte();
  if (failed) return ERROR_TRUNCATED;
  if (encoding !== STRING_DICTIONARY) return ERROR_ENCODING;
  const entries = readCount(BLOCK_VALUES_MAX);
  if (failed) return ERROR_TRUNCATED;
  let error = decodeCodes(count, entries);
  if (error < 0) return error;
  error = decodeLengths(entries);
  if (error < 0) return error;
  const size = readCount(STRING_BYTES_MAX);
  const form = readByte();
  if (failed) return ERROR_TRUNCATED;
  if (size !== dictionaryBytes || form > LZ4) return ERROR_VALUE;
  decodedEntries = entries;
  if (form === STORED) {
    if (<usize>size > remaining()) return ERROR_TRUNCATED;
    decodedBytes = at;
    moveTo(at + <usize>size);
    return 0;
  }
  const packedBytes = <usize>readCount(u32.MAX_VALUE);
  if (failed || packedBytes > remaining()) return ERROR_TRUNCATED;
  // One byte of LZ4 stands for 255 at most: refuse to reserve memory for a lie.
  if (<u64>size > <u64>packedBytes * 255) return ERROR_VALUE;
  const bytes = scratch(SCRATCH_BYTES, <usize>size);
  if (bytes === 0) return ERROR_TOO_LARGE;
  if (!lz4Decompress(at, packedBytes, bytes, <usize>size)) return ERROR_VALUE;
  decodedBytes = bytes;
  moveTo(at + packedBytes);
  return 0;
}
