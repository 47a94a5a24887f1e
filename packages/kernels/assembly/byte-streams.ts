// Streams of bytes, with a Huffman code of their own where that is shorter. Format:
// docs/formats/encodings.md, "Strings".
import { ERROR_TRUNCATED, ERROR_VALUE } from './abi.gen';
import { at, failed, moveTo, readByte, readCount, remaining, writeVarint } from './bytes';
import {
  assignLengths,
  codedBits,
  counts,
  countSymbols,
  prepareSingle,
  readCode,
  single,
  SYMBOLS_MAX,
  writeCode,
  writeCodes,
} from './huffman-code';

/** For fewer bytes, the lengths of the code take more than it saves. */
const CODED_BYTES_MIN: usize = 64;

/** Most bytes that a stream has beyond its own. */
export const STREAM_HEAD_BYTES: usize = 16;

const STORED: u8 = 0;
const CODED: u8 = 1;

/**
 * A stream has parts whose codes are independent, so that the processor decodes four at once, while
 * one code has to be read before the next.
 */
const PARTS: usize = 4;
/** Bytes of a code beside its lengths: form, first symbol, number, sizes and rounding of parts. */
const CODE_HEAD_BYTES: usize = 3 + PARTS * 5;

/** Bytes of each part; the last one has those that remain. At least 64 are in all. */
@inline
function partBytes(bytes: usize): usize {
  return (bytes + PARTS - 1) / PARTS;
}

/** Writes a stream. Returns its end. */
export function writeStream(src: usize, bytes: usize, dst: usize): usize {
  dst = writeVarint(dst, <u64>bytes);
  if (bytes >= CODED_BYTES_MIN) {
    const end = writeCoded(src, bytes, dst);
    if (end !== 0) return end;
  }
  store<u8>(dst++, STORED);
  memory.copy(dst, src, bytes);
  return dst + bytes;
}

/** Returns 0 where a code does not make the stream shorter. */
function writeCoded(src: usize, bytes: usize, dst: usize): usize {
  countSymbols(src, bytes);
  let first: u32 = 0;
  let last = SYMBOLS_MAX - 1;
  while (load<u32>(counts + <usize>first * 4) === 0) first++;
  while (load<u32>(counts + <usize>last * 4) === 0) last--;
  if (first === last) return 0;
  const symbols = last - first + 1;
  memory.copy(counts, counts + <usize>first * 4, <usize>symbols * 4);
  assignLengths(symbols);
  const bound = <usize>(codedBits(symbols) >> 3) + <usize>((symbols + 1) >> 1) + CODE_HEAD_BYTES;
  if (bound >= bytes) return 0;
  store<u8>(dst++, CODED);
  store<u8>(dst++, <u8>first);
  dst = writeCode(symbols, dst);
  const sizes = dst;
  dst += PARTS * 4;
  const part = partBytes(bytes);
  for (let i: usize = 0; i < PARTS; i++) {
    const from = i * part;
    const end = writeCodes(src + from, min(part, bytes - from), first, dst);
    store<u32>(sizes + i * 4, <u32>(end - dst));
    dst = end;
  }
  return dst;
}

/** Size of the stream that was read last. */
export let streamBytes: usize = 0;

/** Reads a stream of at most `limit` bytes to `dst`. Returns 0 or an error. */
export function readStream(dst: usize, limit: usize): i32 {
  const bytes = <usize>readCount(u32.MAX_VALUE);
  const form = <u8>readByte();
  if (failed) return ERROR_TRUNCATED;
  if (bytes > limit || form > CODED) return ERROR_VALUE;
  streamBytes = bytes;
  if (form === CODED) return bytes < CODED_BYTES_MIN ? ERROR_VALUE : readCoded(dst, bytes);
  if (bytes > remaining()) return ERROR_TRUNCATED;
  memory.copy(dst, at, bytes);
  moveTo(at + bytes);
  return 0;
}

function readCoded(dst: usize, bytes: usize): i32 {
  const first = readByte();
  const symbols = readCode();
  if (symbols < 0) return symbols;
  if (PARTS * 4 > remaining()) return ERROR_TRUNCATED;
  if (!prepareSingle(<u32>symbols, first)) return ERROR_VALUE;
  // Places in bits, counted from the beginning of the first part.
  const start = at + PARTS * 4;
  const end0 = <u64>load<u32>(at) * 8;
  const end1 = end0 + <u64>load<u32>(at, 4) * 8;
  const end2 = end1 + <u64>load<u32>(at, 8) * 8;
  const end3 = end2 + <u64>load<u32>(at, 12) * 8;
  if (end3 >> 3 > <u64>(remaining() - PARTS * 4)) return ERROR_TRUNCATED;
  let bit0: u64 = 0;
  let bit1 = end0;
  let bit2 = end1;
  let bit3 = end2;
  const part = partBytes(bytes);
  const dst1 = dst + part;
  const dst2 = dst1 + part;
  const dst3 = dst2 + part;
  const last = bytes - 3 * part;
  let i: usize = 0;
  // Five codes have at most fifty bits, of 57 that are read.
  for (; i + 5 <= last; i += 5) {
    if (bit0 > end0 || bit1 > end1 || bit2 > end2 || bit3 > end3) return ERROR_TRUNCATED;
    let word0 = load<u64>(start + <usize>(bit0 >> 3)) >> (bit0 & 7);
    let word1 = load<u64>(start + <usize>(bit1 >> 3)) >> (bit1 & 7);
    let word2 = load<u64>(start + <usize>(bit2 >> 3)) >> (bit2 & 7);
    let word3 = load<u64>(start + <usize>(bit3 >> 3)) >> (bit3 & 7);
    for (let k: usize = i; k < i + 5; k++) {
      const entry0 = <u64>load<u16>(single + <usize>(word0 & 1023) * 2);
      const entry1 = <u64>load<u16>(single + <usize>(word1 & 1023) * 2);
      const entry2 = <u64>load<u16>(single + <usize>(word2 & 1023) * 2);
      const entry3 = <u64>load<u16>(single + <usize>(word3 & 1023) * 2);
      store<u8>(dst + k, <u8>(entry0 >> 8));
      store<u8>(dst1 + k, <u8>(entry1 >> 8));
      store<u8>(dst2 + k, <u8>(entry2 >> 8));
      store<u8>(dst3 + k, <u8>(entry3 >> 8));
      word0 >>= entry0 & 63;
      word1 >>= entry1 & 63;
      word2 >>= entry2 & 63;
      word3 >>= entry3 & 63;
      bit0 += entry0 & 255;
      bit1 += entry1 & 255;
      bit2 += entry2 & 255;
      bit3 += entry3 & 255;
    }
  }
  const areRead =
    readRest(start, bit0, end0, dst + i, part - i) &&
    readRest(start, bit1, end1, dst1 + i, part - i) &&
    readRest(start, bit2, end2, dst2 + i, part - i) &&
    readRest(start, bit3, end3, dst3 + i, last - i);
  moveTo(start + <usize>(end3 >> 3));
  return areRead ? 0 : ERROR_VALUE;
}

/** Reads the last bytes of a part. Returns false where its codes have another end. */
function readRest(start: usize, bit: u64, end: u64, dst: usize, bytes: usize): bool {
  for (const dstEnd = dst + bytes; dst < dstEnd; dst++) {
    if (bit > end) return false;
    const word = load<u64>(start + <usize>(bit >> 3)) >> (bit & 7);
    const entry = <u32>load<u16>(single + <usize>(word & 1023) * 2);
    store<u8>(dst, <u8>(entry >>> 8));
    bit += <u64>(entry & 255);
  }
  return ((bit + 7) & ~7) === end;
}
