// Writes frames of texts: rows one after another in groups that are compressed on their own, so
// that a few rows are read without unpacking the others, and compaction copies them. Format:
// docs/formats/encodings.md, "Strings".
import {
  AREA_FRAME_FILTERS,
  AREA_COMPRESSED_FRAME,
  AREA_FRAME_SIZES,
  EFFORT_FAST,
  REFERENCE_ADDRESS,
  REFERENCE_BYTES,
  REFERENCE_LENGTH,
} from './abi.gen';
import { writeVarint } from './bytes';
import { crc32c } from './crc32c';
import { hashBytes } from './hash';
import { encodeInts } from './ints';
import { lz4Bound, lz4Compress } from './lz4';
import { scratch } from './memory';
import { sequencesBound, writeSequences } from './sequences';
import { FILTER_BYTES_MAX, writeFilter } from './text-filter';
import {
  CHECKSUM_BYTES,
  FORM_SEQUENCES,
  FORM_STORED,
  FRAMED_BYTES_MAX,
  HEAD_SIZE_BYTES,
} from './text-frames';

/** Size of the texts of a frame, about, and most rows of one: a row is read with its frame. */
const FRAME_BYTES: u32 = 16384;
const WRITTEN_ROWS_MAX: u32 = 128;

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

/** An upper bound of the size of `count` texts of `bytes` bytes in frames. */
export function framesBound(count: u32, bytes: usize): usize {
  const frames = <usize>framesOf(count, bytes);
  return <usize>count * 18 + sequencesBound(lz4Bound(bytes)) + frames * FRAME_HEAD_BYTES + 256;
}

/** Most bytes of a frame and its row of the head, without its texts and their lengths. */
const FRAME_HEAD_BYTES: usize = FILTER_BYTES_MAX + 4 * 18 + 256;

function framesOf(count: u32, bytes: usize): u32 {
  const byBytes = <u32>(bytes / <usize>FRAME_BYTES);
  return min<u32>(count, max<u32>(byBytes, (count - 1) / WRITTEN_ROWS_MAX) + 1);
}

/**
 * Writes the frames of `count` texts of `bytes` bytes, which lie one after another at `texts`, and
 * whose lengths are at `lengths` (i64 each), to a block that begins at `block`. `packed` has room
 * for `framesBound`. Returns the end, or 0 when memory is exhausted.
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
  const frames = framesOf(count, <usize>bytes);
  const list = <usize>frames * 8;
  const rows = scratch(AREA_FRAME_SIZES, 4 * list);
  const filters = scratch(AREA_FRAME_FILTERS, <usize>frames * FILTER_BYTES_MAX);
  if (rows === 0 || filters === 0) return 0;
  let from = texts;
  let to = packed;
  let filter = filters;
  let first: u32 = 0;
  for (let frame: u32 = 0; frame < frames; frame++) {
    const end = <u32>((<u64>count * <u64>(frame + 1)) / <u64>frames);
    const own = lengths + <usize>first * 8;
    let size: usize = 0;
    for (let row = first; row < end; row++) size += <usize>load<u64>(lengths + <usize>row * 8);
    const filterBytes = writeFilter(from, own, end - first, filter);
    // Huffman would not make them shorter, and its tables take longer to make than all else.
    const packedEnd = packFrame(from, size, encodeInts(own, end - first, to, EFFORT_FAST));
    if (packedEnd === 0) return 0;
    const entry = rows + <usize>frame * 8;
    store<u64>(entry, <u64>(end - first));
    store<u64>(entry + list, <u64>size);
    store<u64>(entry + 2 * list, <u64>(packedEnd - to));
    store<u64>(entry + 3 * list, <u64>filterBytes);
    from += size;
    to = packedEnd;
    filter += filterBytes;
    first = end;
  }
  const headSize = dst;
  dst = writeVarint(dst + HEAD_SIZE_BYTES, <u64>frames);
  for (let i: usize = 0; i < 4; i++) dst = encodeInts(rows + i * list, frames, dst, effort);
  let frame = packed;
  for (let i: u32 = 0; i < frames; i++) {
    const size = <usize>load<u64>(rows + 2 * list + <usize>i * 8);
    store<u32>(dst, crc32c(frame, size, 0));
    dst += CHECKSUM_BYTES;
    frame += size;
  }
  store<u32>(headSize, <u32>(dst + CHECKSUM_BYTES - block));
  store<u32>(dst, crc32c(block, dst - block, 0));
  dst += CHECKSUM_BYTES;
  memory.copy(dst, filters, filter - filters);
  dst += filter - filters;
  store<u32>(dst, crc32c(filters, filter - filters, 0));
  dst += CHECKSUM_BYTES;
  memory.copy(dst, packed, to - packed);
  return dst + (to - packed);
}

/** Writes form and texts of a frame. Returns the end, or 0 when memory is exhausted. */
function packFrame(texts: usize, size: usize, dst: usize): usize {
  const compressed = scratch(AREA_COMPRESSED_FRAME, lz4Bound(size));
  if (compressed === 0) return 0;
  store<u8>(dst, FORM_SEQUENCES);
  const end = writeSequences(compressed, lz4Compress(texts, size, compressed), dst + 1);
  if (end === 0 || end - dst <= size) return end;
  store<u8>(dst++, FORM_STORED);
  memory.copy(dst, texts, size);
  return dst + size;
}
