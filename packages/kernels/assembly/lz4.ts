// The LZ4 block format: greedy compression with a table of 4096 positions, and decompression that
// checks everything. Texts are copied loosely: the bytes behind a destination may change, up to
// `LOOSE_BYTES`, which scratch areas have room for.
import { copyText } from './bytes';

const table: usize = memory.data(4096 * 4, 16);

export const MIN_MATCH: usize = 4;
// The format requires that the last five bytes are literals, and that no match starts in the last
// twelve.
const LAST_LITERALS: usize = 5;
const MATCH_MARGIN: usize = 12;

/** Largest size of `bytes` compressed bytes. */
export function lz4Bound(bytes: usize): usize {
  return bytes + bytes / 255 + 16;
}

// By five bytes, though matches may have four: four digits of random hexadecimal text are found
// again everywhere, and a match of four bytes saves one.
@inline
function slotOf(bytes: u64): usize {
  return table + <usize>(((bytes << 24) * 889523592379) >>> 52) * 4;
}

function writeLength(address: usize, length: usize): usize {
  while (length >= 255) {
    store<u8>(address++, 255);
    length -= 255;
  }
  store<u8>(address, <u8>length);
  return address + 1;
}

function writeLiterals(dst: usize, src: usize, length: usize, matchCode: usize): usize {
  const short = length < 15 ? length : 15;
  store<u8>(dst++, <u8>((short << 4) | matchCode));
  if (length >= 15) dst = writeLength(dst, length - 15);
  copyText(dst, src, length);
  return dst + length;
}

/** How many bytes are the same from two positions on, of which the first four are known to be. */
@inline
function matchLength(position: usize, candidate: usize, limit: usize): usize {
  let length = MIN_MATCH;
  while (position + length + 8 <= limit) {
    const difference = load<u64>(position + length) ^ load<u64>(candidate + length);
    if (difference !== 0) return length + <usize>(ctz(difference) >> 3);
    length += 8;
  }
  while (
    position + length < limit &&
    load<u8>(position + length) === load<u8>(candidate + length)
  ) {
    length++;
  }
  return length;
}

/** Compresses to `dst`, which has room for `lz4Bound(bytes)`. Returns the compressed size. */
export function lz4Compress(src: usize, bytes: usize, dst: usize): usize {
  const start = dst;
  const end = src + bytes;
  let anchor = src;
  if (bytes > MATCH_MARGIN) {
    memory.fill(table, 0, 4096 * 4);
    const matchLimit = end - MATCH_MARGIN;
    const lengthLimit = end - LAST_LITERALS;
    let position = src;
    while (position <= matchLimit) {
      const bytes8 = load<u64>(position);
      const word = <u32>bytes8;
      const slot = slotOf(bytes8);
      // Positions are stored plus one; zero means none.
      const candidate = src + <usize>load<u32>(slot) - 1;
      const isKnown = load<u32>(slot) !== 0;
      store<u32>(slot, <u32>(position - src + 1));
      if (!isKnown || position - candidate > 65535 || load<u32>(candidate) !== word) {
        // Steps grow with the distance from the last match, so that incompressible data takes
        // little time.
        position += 1 + ((position - anchor) >> 6);
        continue;
      }
      const length = matchLength(position, candidate, lengthLimit);
      const extra = length - MIN_MATCH;
      dst = writeLiterals(dst, anchor, position - anchor, extra < 15 ? extra : 15);
      store<u16>(dst, <u16>(position - candidate));
      dst += 2;
      if (extra >= 15) dst = writeLength(dst, extra - 15);
      position += length;
      anchor = position;
    }
  }
  dst = writeLiterals(dst, anchor, end - anchor, 0);
  return dst - start;
}

/** Result of `readLength`. */
export let lengthRead: usize = 0;

/** Adds the bytes of a long length to `length`. Returns their end, 0 if the input ends before. */
@inline
export function readLength(src: usize, srcEnd: usize, length: usize): usize {
  let more: usize = 255;
  while (more === 255) {
    if (src >= srcEnd) return 0;
    more = <usize>load<u8>(src++);
    length += more;
  }
  lengthRead = length;
  return src;
}

/** Copies a match, which may overlap the bytes that it produces. */
@inline
export function copyMatch(dst: usize, distance: usize, length: usize): void {
  const from = dst - distance;
  // No step is longer than the distance.
  if (distance >= 16) copyText(dst, from, length);
  else if (distance >= 8) {
    for (let i: usize = 0; i < length; i += 8) store<u64>(dst + i, load<u64>(from + i));
  } else for (let i: usize = 0; i < length; i++) store<u8>(dst + i, load<u8>(from + i));
}

/** Decompresses exactly `size` bytes. Returns false when the input is not a block of that size. */
export function lz4Decompress(src: usize, bytes: usize, dst: usize, size: usize): bool {
  const srcEnd = src + bytes;
  const dstStart = dst;
  const dstEnd = dst + size;
  while (src < srcEnd) {
    const token = <usize>load<u8>(src++);
    let length = token >> 4;
    if (length === 15) {
      src = readLength(src, srcEnd, length);
      if (src === 0) return false;
      length = lengthRead;
    }
    if (length > srcEnd - src || length > dstEnd - dst) return false;
    copyText(dst, src, length);
    src += length;
    dst += length;
    if (src === srcEnd) return dst === dstEnd;
    if (srcEnd - src < 2) return false;
    const distance = <usize>load<u16>(src);
    src += 2;
    if (distance === 0 || distance > dst - dstStart) return false;
    length = token & 15;
    if (length === 15) {
      src = readLength(src, srcEnd, length);
      if (src === 0) return false;
      length = lengthRead;
    }
    length += MIN_MATCH;
    if (length > dstEnd - dst) return false;
    copyMatch(dst, distance, length);
    dst += length;
  }
  return false;
}
