// Codec for floats: integers divided by a power of ten, if that restores every bit; otherwise XOR
// with the previous value. Format: docs/formats/encodings.md, "Floats".
import {
  AREA_EXCEPTIONS,
  AREA_SCALED,
  ERROR_ENCODING,
  ERROR_TRUNCATED,
  ERROR_VALUE,
  FLOAT_CONSTANT,
  FLOAT_RAW,
  FLOAT_SCALED,
  FLOAT_XOR,
} from './abi.gen';
import {
  at,
  failed,
  moveTo,
  readByte,
  readCount,
  readU64,
  remaining,
  varintBytes,
  writeVarint,
} from './bytes';
import { decodeInts, encodeInts } from './ints';
import { scratch } from './memory';

// n / 10^e is the double nearest to the decimal as long as both are exact: |n| <= 2^53 and e <= 22.
// Doubles that were written with up to 15 digits need e <= 15; larger exponents do not pay.
const EXPONENT_MAX: i32 = 15;
const INTEGER_LIMIT: f64 = 9007199254740992.0;
const powers: usize = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
]);

@inline
function powerOf(exponent: i32): f64 {
  return load<f64>(powers + <usize>exponent * 8);
}

/**
 * Whether `value` is an integer divided by `power`, bit by bit. −0 is not, because integers have no
 * sign of zero.
 */
@inline
function isScaled(value: f64, power: f64): bool {
  const scaled = nearest(value * power);
  return (
    abs(scaled) <= INTEGER_LIMIT &&
    reinterpret<u64>(scaled / power) === reinterpret<u64>(value) &&
    reinterpret<u64>(value) !== 0x8000000000000000
  );
}

/**
 * The smallest exponent that works for up to 32 values spread over the block, with one exception in
 * eight; -1 if there is none.
 */
function chooseExponent(src: usize, count: u32): i32 {
  const step = max<u32>(count / 32, 1);
  const samples = (count + step - 1) / step;
  let exponent = 0;
  let misfits: u32 = 0;
  for (let i: u32 = 0; i < count; i += step) {
    const value = load<f64>(src + <usize>i * 8);
    let e = exponent;
    while (e <= EXPONENT_MAX && !isScaled(value, powerOf(e))) e++;
    if (e <= EXPONENT_MAX) exponent = e;
    else if (++misfits * 8 > samples) return -1;
  }
  return exponent;
}

/** Writes scaled integers. Returns 0 if there is more than one exception in eight. */
function encodeScaled(src: usize, count: u32, dst: usize, effort: i32): usize {
  const exponent = chooseExponent(src, count);
  if (exponent < 0) return 0;
  const integers = scratch(AREA_SCALED, <usize>count * 8);
  const exceptions = scratch(AREA_EXCEPTIONS, <usize>count * 4);
  if (integers === 0 || exceptions === 0) return 0;
  const power = powerOf(exponent);
  let exceptionCount: u32 = 0;
  let previous: i64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const value = load<f64>(src + <usize>i * 8);
    if (isScaled(value, power)) {
      previous = <i64>nearest(value * power);
    } else {
      // An exception takes the integer before it, which keeps the packed integers narrow.
      store<u32>(exceptions + <usize>exceptionCount * 4, i);
      exceptionCount++;
    }
    store<i64>(integers + <usize>i * 8, previous);
  }
  if (exceptionCount * 8 > count) return 0;
  store<u8>(dst++, <u8>FLOAT_SCALED);
  store<u8>(dst++, <u8>exponent);
  dst = writeVarint(dst, <u64>exceptionCount);
  let last: u32 = 0;
  for (let k: u32 = 0; k < exceptionCount; k++) {
    const index = load<u32>(exceptions + <usize>k * 4);
    dst = writeVarint(dst, <u64>(index - last));
    store<u64>(dst, load<u64>(src + <usize>index * 8));
    dst += 8;
    last = index;
  }
  return encodeInts(integers, count, dst, effort);
}

function decodeScaled(count: u32, dst: usize): i32 {
  const exponent = <i32>readByte();
  if (exponent > EXPONENT_MAX) return ERROR_VALUE;
  const exceptionCount = readCount(count);
  const exceptions = at;
  // Exceptions come first but are applied last, so they are skipped here.
  let index: u64 = 0;
  for (let k: u32 = 0; k < exceptionCount; k++) {
    index += <u64>readCount(count);
    readU64();
    if (failed) return ERROR_TRUNCATED;
    if (index >= <u64>count) return ERROR_VALUE;
  }
  if (failed) return ERROR_TRUNCATED;
  const error = decodeInts(count, dst);
  if (error < 0) return error;
  const power = f64x2.splat(powerOf(exponent));
  // In blocks that an encoder wrote, integers are below 2^53, and both conversions are exact. In a
  // damaged block any float may result.
  let i: u32 = 0;
  for (; i + 2 <= count; i += 2) {
    const p = dst + <usize>i * 8;
    const pair = f64x2.replace_lane(f64x2.splat(<f64>load<i64>(p)), 1, <f64>load<i64>(p, 8));
    v128.store(p, f64x2.div(pair, power));
  }
  if (i < count) {
    const p = dst + <usize>i * 8;
    store<f64>(p, <f64>load<i64>(p) / powerOf(exponent));
  }
  const after = at;
  moveTo(exceptions);
  let position: u32 = 0;
  for (let k: u32 = 0; k < exceptionCount; k++) {
    position += readCount(count);
    store<u64>(dst + <usize>position * 8, readU64());
  }
  moveTo(after);
  return 0;
}

/**
 * Writes XORs with the previous value. For each value: bit 0 if it is the same; 1,0 if the
 * meaningful bits are in the previous window; 1,1 for a new window: 6 bits for the leading zeros, 6
 * bits for the length − 1, then the bits. Returns 0 if raw values are not longer.
 */
function encodeXor(src: usize, count: u32, dst: usize): usize {
  // The length of the stream comes first; three bytes are enough for it in all blocks.
  store<u8>(dst, <u8>FLOAT_XOR);
  const limit = <usize>count * 8;
  const start = dst + 1;
  const first = start + 4;
  let previous = load<u64>(src);
  store<u64>(first, previous);
  let out = first + 8;
  const outLimit = first + limit;
  let word: u64 = 0;
  let used: u32 = 0;
  let leading: u32 = 65;
  let trailing: u32 = 0;
  for (let i: u32 = 1; i < count; i++) {
    const value = load<u64>(src + <usize>i * 8);
    const difference = value ^ previous;
    previous = value;
    if (difference === 0) {
      used++;
    } else {
      const zeros = <u32>clz(difference);
      const zerosBehind = <u32>ctz(difference);
      let prefix: u64;
      let prefixBits: u32;
      // Replaces a window that is much too wide, because all later values would pay for it.
      if (
        zeros >= leading &&
        zerosBehind >= trailing &&
        leading + trailing + 14 >= zeros + zerosBehind
      ) {
        prefix = 1;
        prefixBits = 2;
      } else {
        leading = zeros;
        trailing = zerosBehind;
        prefix = 3 | ((<u64>leading) << 2) | ((<u64>(63 - leading - trailing)) << 8);
        prefixBits = 14;
      }
      word |= prefix << used;
      used += prefixBits;
      // At most 7 + 14 bits are used here, unless the flush below left more.
      while (used >= 8 && used < 64) {
        store<u8>(out++, <u8>word);
        word >>= 8;
        used -= 8;
      }
      const length = 64 - leading - trailing;
      const bits = difference >> trailing;
      word |= bits << used;
      const total = used + length;
      if (total >= 64) {
        store<u64>(out, word);
        out += 8;
        word = used === 0 ? 0 : bits >> (64 - used);
        used = total - 64;
      } else {
        used = total;
      }
    }
    while (used >= 8) {
      store<u8>(out++, <u8>word);
      word >>= 8;
      used -= 8;
    }
    if (out > outLimit) return 0;
  }
  if (used > 0) store<u8>(out++, <u8>word);
  store<u32>(start, <u32>(out - first));
  return out;
}

function decodeXor(count: u32, dst: usize): i32 {
  if (remaining() < 12) return ERROR_TRUNCATED;
  const bytes = <usize>load<u32>(at);
  if (bytes < 8 || bytes > remaining() - 4) return ERROR_TRUNCATED;
  const first = at + 4;
  moveTo(first + bytes);
  let value = load<u64>(first);
  store<u64>(dst, value);
  const stream = first + 8;
  const bitLimit = <u64>(bytes - 8) * 8;
  let bit: u64 = 0;
  let trailing: u32 = 0;
  let length: u32 = 0;
  for (let i: u32 = 1; i < count; i++) {
    if (bit >= bitLimit) return ERROR_TRUNCATED;
    const p = stream + <usize>(bit >> 3);
    const head = <u32>load<u32>(p) >>> <u32>(bit & 7);
    if ((head & 1) === 0) {
      bit++;
    } else {
      if ((head & 2) === 0) {
        bit += 2;
        if (length === 0) return ERROR_VALUE;
      } else {
        const leading = (head >>> 2) & 63;
        length = ((head >>> 8) & 63) + 1;
        if (leading + length > 64) return ERROR_VALUE;
        trailing = 64 - leading - length;
        bit += 14;
      }
      if (bit + <u64>length > bitLimit) return ERROR_TRUNCATED;
      const q = stream + <usize>(bit >> 3);
      const shift = bit & 7;
      const bits = (load<u64>(q) >> shift) | (((<u64>load<u8>(q, 8)) << 1) << (63 - shift));
      const mask = length === 64 ? u64.MAX_VALUE : ((<u64>1) << length) - 1;
      value ^= (bits & mask) << trailing;
      bit += <u64>length;
    }
    store<u64>(dst + <usize>i * 8, value);
  }
  return 0;
}

/**
 * Writes encoding byte and payload. `dst` has room for 11 bytes per value + 64. Returns the end.
 */
export function encodeFloats(src: usize, count: u32, dst: usize, effort: i32): usize {
  let isConstant = count > 0;
  const first = count > 0 ? load<u64>(src) : 0;
  for (let i: u32 = 1; i < count && isConstant; i++) {
    isConstant = load<u64>(src + <usize>i * 8) === first;
  }
  if (isConstant) {
    store<u8>(dst, <u8>FLOAT_CONSTANT);
    store<u64>(dst, first, 1);
    return dst + 9;
  }
  if (count > 0) {
    const scaledEnd = encodeScaled(src, count, dst, effort);
    if (scaledEnd !== 0 && scaledEnd - dst < <usize>count * 6) return scaledEnd;
    const xorEnd = encodeXor(src, count, dst);
    if (xorEnd !== 0) return xorEnd;
  }
  store<u8>(dst, <u8>FLOAT_RAW);
  memory.copy(dst + 1, src, <usize>count * 8);
  return dst + 1 + <usize>count * 8;
}

/** Decodes `count` floats to `dst`. Returns 0 or an error. */
export function decodeFloats(count: u32, dst: usize): i32 {
  const encoding = readByte();
  if (failed) return ERROR_TRUNCATED;
  if (encoding === FLOAT_RAW) {
    const bytes = <usize>count * 8;
    if (bytes > remaining()) return ERROR_TRUNCATED;
    memory.copy(dst, at, bytes);
    moveTo(at + bytes);
    return 0;
  }
  if (count === 0) return ERROR_ENCODING;
  if (encoding === FLOAT_CONSTANT) {
    const value = readU64();
    if (failed) return ERROR_TRUNCATED;
    for (let i: u32 = 0; i < count; i++) store<u64>(dst + <usize>i * 8, value);
    return 0;
  }
  if (encoding === FLOAT_SCALED) return decodeScaled(count, dst);
  if (encoding === FLOAT_XOR) return decodeXor(count, dst);
  return ERROR_ENCODING;
}
