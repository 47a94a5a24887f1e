// Codec for sequences of 0 and 1, a byte each in memory: boolean fields and validity. Format:
// docs/formats/encodings.md, "Bits".
import {
  BITS_CONSTANT,
  BITS_PACKED,
  BITS_RUNS,
  ERROR_ENCODING,
  ERROR_TRUNCATED,
  ERROR_VALUE,
} from './abi.gen';
import {
  at,
  failed,
  moveTo,
  readByte,
  readCount,
  remaining,
  varintBytes,
  writeVarint,
} from './bytes';

/**
 * Writes encoding byte and payload; every byte except 0 counts as 1. `dst` has room for count / 8 +
 * 64 bytes. Returns the end.
 */
export function encodeBits(src: usize, count: u32, dst: usize): usize {
  const packedBytes = <usize>((count + 7) >>> 3);
  const first: u32 = count > 0 && load<u8>(src) !== 0 ? 1 : 0;
  let runs: u32 = 0;
  let runBytes: usize = 1;
  let from: u32 = 0;
  let bit = first;
  for (let i: u32 = 1; i <= count; i++) {
    if (i < count && (load<u8>(src + <usize>i) !== 0 ? 1 : 0) === bit) continue;
    runs++;
    runBytes += <usize>varintBytes(<u64>(i - from));
    from = i;
    bit ^= 1;
    if (runBytes >= packedBytes && runs > 1) break;
  }
  if (runs <= 1 && count > 0) {
    store<u8>(dst, <u8>BITS_CONSTANT);
    store<u8>(dst, <u8>first, 1);
    return dst + 2;
  }
  if (runBytes < packedBytes) {
    store<u8>(dst, <u8>BITS_RUNS);
    store<u8>(dst, <u8>first, 1);
    dst += 2;
    from = 0;
    bit = first;
    for (let i: u32 = 1; i <= count; i++) {
      if (i < count && (load<u8>(src + <usize>i) !== 0 ? 1 : 0) === bit) continue;
      dst = writeVarint(dst, <u64>(i - from));
      from = i;
      bit ^= 1;
    }
    return dst;
  }
  store<u8>(dst++, <u8>BITS_PACKED);
  const zero = i8x16.splat(0);
  let i: u32 = 0;
  for (; i + 16 <= count; i += 16) {
    const mask = i8x16.bitmask(i8x16.ne(v128.load(src + <usize>i), zero));
    store<u16>(dst, <u16>mask);
    dst += 2;
  }
  while (i < count) {
    let byte: u32 = 0;
    for (let k: u32 = 0; k < 8 && i < count; k++, i++) {
      byte |= (load<u8>(src + <usize>i) !== 0 ? 1 : 0) << k;
    }
    store<u8>(dst++, <u8>byte);
  }
  return dst;
}

/** Decodes `count` bits to bytes at `dst`, which has room for 8 more. Returns 0 or an error. */
export function decodeBits(count: u32, dst: usize): i32 {
  const encoding = readByte();
  if (failed) return ERROR_TRUNCATED;
  if (encoding === BITS_PACKED) {
    const bytes = <usize>((count + 7) >>> 3);
    if (bytes > remaining()) return ERROR_TRUNCATED;
    const selector: u64 = 0x8040201008040201;
    for (let i: usize = 0; i < bytes; i++) {
      // Spreads eight bits over eight bytes: copies the byte eight times, keeps bit k in byte k,
      // and turns what is not 0 into 1.
      const spread = (<u64>load<u8>(at + i) * 0x0101010101010101) & selector;
      store<u64>(dst + i * 8, ((spread + 0x7f7f7f7f7f7f7f7f) >> 7) & 0x0101010101010101);
    }
    moveTo(at + bytes);
    return 0;
  }
  if (count === 0) return ERROR_ENCODING;
  if (encoding !== BITS_CONSTANT && encoding !== BITS_RUNS) return ERROR_ENCODING;
  let bit = readByte();
  if (failed) return ERROR_TRUNCATED;
  if (bit > 1) return ERROR_VALUE;
  if (encoding === BITS_CONSTANT) {
    memory.fill(dst, <u8>bit, <usize>count);
    return 0;
  }
  let done: u32 = 0;
  while (done < count) {
    const length = readCount(count - done);
    if (failed) return ERROR_TRUNCATED;
    if (length === 0) return ERROR_VALUE;
    memory.fill(dst + <usize>done, <u8>bit, <usize>length);
    done += length;
    bit ^= 1;
  }
  return 0;
}
