// LZ4 blocks whose bytes are sorted by kind: literals, lengths and distances, each a stream with a
// code of its own. Format: docs/formats/encodings.md, "Strings".
import { AREA_SEQUENCES, ERROR_TOO_LARGE, ERROR_VALUE } from './abi.gen';
import { copyText } from './bytes';
import { readStream, STREAM_HEAD_BYTES, streamBytes, writeStream } from './byte-streams';
import { copyMatch, lengthRead, MIN_MATCH, readLength } from './lz4';
import { scratch } from './memory';

/** Room behind each kind, for loose copies. */
const GAP_BYTES: usize = 32;

/** An upper bound of the size of an LZ4 block of `bytes` bytes that is sorted. */
export function sequencesBound(bytes: usize): usize {
  return bytes + 3 * STREAM_HEAD_BYTES;
}

/**
 * Sorts the LZ4 block of `bytes` bytes at `src`, which `lz4Compress` made, and writes its streams.
 * Returns their end, or 0 when memory is exhausted.
 */
export function writeSequences(src: usize, bytes: usize, dst: usize): usize {
  const literals = scratch(AREA_SEQUENCES, 3 * (bytes + GAP_BYTES));
  if (literals === 0) return 0;
  const lengths = literals + bytes + GAP_BYTES;
  const distances = lengths + bytes + GAP_BYTES;
  let literal = literals;
  let length = lengths;
  let distance = distances;
  const end = src + bytes;
  while (true) {
    const token = <usize>load<u8>(src);
    let from = src++;
    let count = token >> 4;
    if (count === 15) {
      src = readLength(src, end, count);
      count = lengthRead;
    }
    for (; from < src; from++) store<u8>(length++, load<u8>(from));
    copyText(literal, src, count);
    literal += count;
    src += count;
    if (src === end) break;
    store<u16>(distance, load<u16>(src));
    distance += 2;
    src += 2;
    if ((token & 15) !== 15) continue;
    from = src;
    src = readLength(src, end, 0);
    for (; from < src; from++) store<u8>(length++, load<u8>(from));
  }
  dst = writeStream(literals, literal - literals, dst);
  dst = writeStream(lengths, length - lengths, dst);
  return writeStream(distances, distance - distances, dst);
}

/**
 * Reads the streams of a block that gives exactly `size` bytes at `dst`; the bytes behind may
 * change, as in `lz4Decompress`. Returns 0 or an error.
 */
export function readSequences(dst: usize, size: usize): i32 {
  // Every sequence gives four bytes at least, and takes a token, a distance, and a byte for each
  // 255 of its length.
  const room = size + 2 * GAP_BYTES;
  const literals = scratch(AREA_SEQUENCES, 3 * room);
  if (literals === 0) return ERROR_TOO_LARGE;
  let error = readStream(literals, size);
  if (error < 0) return error;
  literalEnd = literals + streamBytes;
  const lengths = literals + room;
  error = readStream(lengths, size + GAP_BYTES);
  if (error < 0) return error;
  lengthEnd = lengths + streamBytes;
  const distances = lengths + room;
  error = readStream(distances, size);
  if (error < 0) return error;
  distanceEnd = distances + streamBytes;
  return expand(literals, lengths, distances, dst, dst + size) ? 0 : ERROR_VALUE;
}

// Where the streams end that were read last.
let literalEnd: usize = 0;
let lengthEnd: usize = 0;
let distanceEnd: usize = 0;

/** Whether the streams give exactly the bytes from `dst` to `dstEnd`. */
function expand(literal: usize, length: usize, distance: usize, dst: usize, dstEnd: usize): bool {
  const dstStart = dst;
  while (length < lengthEnd) {
    const token = <usize>load<u8>(length++);
    let count = token >> 4;
    if (count === 15) {
      length = readLength(length, lengthEnd, count);
      if (length === 0) return false;
      count = lengthRead;
    }
    if (count > literalEnd - literal || count > dstEnd - dst) return false;
    copyText(dst, literal, count);
    literal += count;
    dst += count;
    if (distance === distanceEnd) {
      return length === lengthEnd && literal === literalEnd && dst === dstEnd;
    }
    if (distanceEnd - distance < 2) return false;
    const back = <usize>load<u16>(distance);
    distance += 2;
    if (back === 0 || back > dst - dstStart) return false;
    count = token & 15;
    if (count === 15) {
      length = readLength(length, lengthEnd, count);
      if (length === 0) return false;
      count = lengthRead;
    }
    count += MIN_MATCH;
    if (count > dstEnd - dst) return false;
    copyMatch(dst, back, count);
    dst += count;
  }
  return false;
}
