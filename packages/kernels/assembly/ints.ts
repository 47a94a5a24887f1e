// Codec for sequences of 64-bit integers: times, integer and unsigned fields, dictionary codes,
// scaled floats. A sequence is encoded as it is, as differences, or as differences of differences.
// It is packed in groups of 128 values: width, smallest value, and the offsets from it. Arithmetic
// wraps, so int64 and uint64 are treated the same. Format: docs/formats/encodings.md, "Integers".
import {
  EFFORT_FAST,
  EFFORT_SMALL,
  ERROR_ENCODING,
  ERROR_TRUNCATED,
  INT_CONSTANT,
  INT_DELTA2,
  INT_HUFFMAN,
  INT_PACKED,
  INT_RAW,
  INT_STEP,
} from './abi.gen';
import {
  at,
  end,
  fail,
  failed,
  moveTo,
  readByte,
  readU64,
  readVarint,
  remaining,
  unzigzag,
  varintBytes,
  writeVarint,
  zigzag,
} from './bytes';
import { decodeHuffman, encodeHuffman, huffmanPlan } from './huffman';

export const GROUP: u32 = 128;

@inline
function widthOf(range: u64): u32 {
  return <u32>(64 - clz(range));
}

@inline
function groupBytes(count: u32, width: u32): usize {
  return (<usize>count * <usize>width + 7) >> 3;
}

// The first `order` values start the differences, and are stored separately.
@inline
function term(src: usize, i: u32, order: u32): i64 {
  const p = src + <usize>i * 8;
  if (order === 0) return load<i64>(p);
  const difference = load<i64>(p) - load<i64>(p - 8);
  if (order === 1) return difference;
  return difference - (load<i64>(p - 8) - load<i64>(p - 16));
}

/** Smallest value and range of the last measured group. */
let groupMin: i64 = 0;
let groupRange: u64 = 0;

@inline
function measureGroup(src: usize, from: u32, to: u32, order: u32): void {
  let min = term(src, from, order);
  let max = min;
  for (let i = from + 1; i < to; i++) {
    const value = term(src, i, order);
    min = value < min ? value : min;
    max = value > max ? value : max;
  }
  groupMin = min;
  groupRange = <u64>(max - min);
}

/** Measures every `every`-th group, from the first on. */
@inline
function sizePacked(src: usize, count: u32, order: u32, every: u32): usize {
  let bytes: usize = 0;
  for (let i: u32 = 0; i < order; i++) {
    const head = i === 0 ? load<i64>(src) : load<i64>(src, 8) - load<i64>(src);
    bytes += <usize>varintBytes(zigzag(head));
  }
  for (let from = order; from < count; from += GROUP * every) {
    const to = min<u32>(from + GROUP, count);
    measureGroup(src, from, to, order);
    bytes += 1 + <usize>varintBytes(zigzag(groupMin)) + groupBytes(to - from, widthOf(groupRange));
  }
  return bytes;
}

@inline
function writePacked(src: usize, count: u32, order: u32, dst: usize): usize {
  for (let i: u32 = 0; i < order; i++) {
    const head = i === 0 ? load<i64>(src) : load<i64>(src, 8) - load<i64>(src);
    dst = writeVarint(dst, zigzag(head));
  }
  for (let from = order; from < count; from += GROUP) {
    const to = min<u32>(from + GROUP, count);
    measureGroup(src, from, to, order);
    const width = widthOf(groupRange);
    store<u8>(dst, <u8>width);
    dst = writeVarint(dst + 1, zigzag(groupMin));
    if (width === 0) continue;
    const base = groupMin;
    const bytes = groupBytes(to - from, width);
    let word: u64 = 0;
    let used: u32 = 0;
    let out = dst;
    for (let i = from; i < to; i++) {
      const value = <u64>(term(src, i, order) - base);
      word |= value << used;
      used += width;
      if (used >= 64) {
        store<u64>(out, word);
        out += 8;
        used -= 64;
        word = used === 0 ? 0 : value >> (width - used);
      }
    }
    // Writes at most seven bytes more than the group has; the next group, or the slack behind
    // `dst`, takes them.
    if (used > 0) store<u64>(out, word);
    dst += bytes;
  }
  return dst;
}

function writePackedOrder(src: usize, count: u32, order: u32, dst: usize): usize {
  if (order === 0) return writePacked(src, count, 0, dst);
  if (order === 1) return writePacked(src, count, 1, dst);
  return writePacked(src, count, 2, dst);
}

/** Whether all differences are the same. True for up to two values. */
function isStepped(src: usize, count: u32): bool {
  if (count < 2) return true;
  const step = load<i64>(src, 8) - load<i64>(src);
  for (let i: u32 = 2; i < count; i++) {
    if (term(src, i, 1) !== step) return false;
  }
  return true;
}

// For log records the best order is estimated from an eighth of the groups: measuring all of them
// for three orders takes longer than writing the best one.
const SAMPLED_GROUPS: u32 = 8;
const SAMPLED_FROM: u32 = 1024;

/** Number of values that `sizePacked` measures. */
@inline
function sampledCount(count: u32): u32 {
  const whole = count / (GROUP * SAMPLED_GROUPS);
  return whole * GROUP + min<u32>(count - whole * GROUP * SAMPLED_GROUPS, GROUP);
}

/**
 * Writes encoding byte and payload, without the count. `dst` has room for 9 bytes per value + 64.
 * Returns the end.
 */
export function encodeInts(src: usize, count: u32, dst: usize, effort: i32): usize {
  if (count === 0) {
    store<u8>(dst, <u8>INT_RAW);
    return dst + 1;
  }
  if (isStepped(src, count)) {
    const step = count < 2 ? 0 : load<i64>(src, 8) - load<i64>(src);
    store<u8>(dst, <u8>(step === 0 ? INT_CONSTANT : INT_STEP));
    dst = writeVarint(dst + 1, zigzag(load<i64>(src)));
    return step === 0 ? dst : writeVarint(dst, zigzag(step));
  }
  const every: u32 = effort === EFFORT_FAST && count >= SAMPLED_FROM ? SAMPLED_GROUPS : 1;
  let best = <usize>(every === 1 ? count : sampledCount(count)) * 8;
  let order: i32 = -1;
  const plain = sizePacked(src, count, 0, every);
  if (plain < best) {
    best = plain;
    order = 0;
  }
  const first = sizePacked(src, count, 1, every);
  if (first < best) {
    best = first;
    order = 1;
  }
  if (count > 2) {
    const second = sizePacked(src, count, 2, every);
    if (second < best) {
      best = second;
      order = 2;
    }
  }
  if (effort >= EFFORT_SMALL) {
    const dense = huffmanPlan(src, count);
    if (dense !== 0 && dense < best) {
      store<u8>(dst, <u8>INT_HUFFMAN);
      return encodeHuffman(src, count, dst + 1);
    }
  }
  if (order < 0) {
    store<u8>(dst, <u8>INT_RAW);
    memory.copy(dst + 1, src, <usize>count * 8);
    return dst + 1 + <usize>count * 8;
  }
  store<u8>(dst, <u8>(INT_PACKED + <u32>order));
  return writePackedOrder(src, count, <u32>order, dst + 1);
}

/**
 * Unpacks `count` numbers of `width` bits. With `sums` it stores running sums that begin with
 * `start`. Returns the last sum. Eight numbers take `width` whole bytes, so that eight narrow ones
 * need one or two loads.
 */
@inline
function unpack(
  src: usize,
  count: u32,
  width: u32,
  base: i64,
  dst: usize,
  sums: bool,
  start: i64,
): i64 {
  let sum = start;
  if (width === 0) {
    for (let i: u32 = 0; i < count; i++) {
      sum += base;
      store<i64>(dst + <usize>i * 8, sums ? sum : base);
    }
    return sum;
  }
  const shift = <u64>width;
  const mask: u64 = width === 64 ? u64.MAX_VALUE : ((<u64>1) << shift) - 1;
  let i: u32 = 0;
  if (width <= 8) {
    for (; i + 8 <= count; i += 8) {
      let word = load<u64>(src);
      src += <usize>width;
      for (let k: usize = 0; k < 64; k += 8) {
        const value = <i64>(word & mask) + base;
        sum += value;
        store<i64>(dst + <usize>i * 8 + k, sums ? sum : value);
        word >>= shift;
      }
    }
  } else if (width <= 16) {
    const half = <usize>(width * 4) >> 3;
    const rest = <u64>(width * 4) & 7;
    for (; i + 8 <= count; i += 8) {
      let word = load<u64>(src);
      for (let k: usize = 0; k < 32; k += 8) {
        const value = <i64>(word & mask) + base;
        sum += value;
        store<i64>(dst + <usize>i * 8 + k, sums ? sum : value);
        word >>= shift;
      }
      word = load<u64>(src + half) >> rest;
      for (let k: usize = 32; k < 64; k += 8) {
        const value = <i64>(word & mask) + base;
        sum += value;
        store<i64>(dst + <usize>i * 8 + k, sums ? sum : value);
        word >>= shift;
      }
      src += <usize>width;
    }
  }
  let bit: u32 = 0;
  for (; i < count; i++) {
    const p = src + <usize>(bit >>> 3);
    const offset = <u64>(bit & 7);
    let word = load<u64>(p) >> offset;
    // With more than 57 bits, a number may extend into a ninth byte. Two shifts, because a shift by
    // 64 would have no effect.
    if (width > 57) word |= ((<u64>load<u8>(p, 8)) << 1) << (63 - offset);
    const value = <i64>(word & mask) + base;
    sum += value;
    store<i64>(dst + <usize>i * 8, sums ? sum : value);
    bit += width;
  }
  return sum;
}

function unpackGroup(src: usize, count: u32, width: u32, base: i64, dst: usize): void {
  unpack(src, count, width, base, dst, false, 0);
}

function unpackSums(src: usize, count: u32, width: u32, base: i64, dst: usize, start: i64): i64 {
  return unpack(src, count, width, base, dst, true, start);
}

@inline
function sumGroup(dst: usize, count: u32, start: i64): i64 {
  let value = start;
  for (let i: u32 = 0; i < count; i++) {
    value += load<i64>(dst + <usize>i * 8);
    store<i64>(dst + <usize>i * 8, value);
  }
  return value;
}

function readPacked(count: u32, order: u32, dst: usize): void {
  let value: i64 = 0;
  let step: i64 = 0;
  if (order > 0) {
    value = unzigzag(readVarint());
    store<i64>(dst, value);
  }
  if (order > 1) {
    step = unzigzag(readVarint());
    value += step;
    store<i64>(dst, value, 8);
  }
  for (let from = order; from < count; from += GROUP) {
    const length = min<u32>(GROUP, count - from);
    const width = readByte();
    const base = unzigzag(readVarint());
    const bytes = groupBytes(length, width);
    if (failed || width > 64 || bytes > remaining()) {
      fail();
      return;
    }
    const out = dst + <usize>from * 8;
    if (order === 0) unpackGroup(at, length, width, base, out);
    else if (order === 1) value = unpackSums(at, length, width, base, out, value);
    else {
      step = unpackSums(at, length, width, base, out, step);
      value = sumGroup(out, length, value);
    }
    moveTo(at + bytes);
  }
}

/**
 * Decodes `count` values at the reader's position to `dst`, 8 bytes each. Returns 0 or an error.
 */
export function decodeInts(count: u32, dst: usize): i32 {
  const encoding = readByte();
  if (failed) return ERROR_TRUNCATED;
  if (encoding === INT_RAW) {
    const bytes = <usize>count * 8;
    if (bytes > remaining()) return ERROR_TRUNCATED;
    memory.copy(dst, at, bytes);
    moveTo(at + bytes);
    return 0;
  }
  // Only the raw encoding can be empty; the others start with a value.
  if (count === 0) return ERROR_ENCODING;
  if (encoding === INT_CONSTANT || encoding === INT_STEP) {
    let value = unzigzag(readVarint());
    const step = encoding === INT_STEP ? unzigzag(readVarint()) : 0;
    if (failed) return ERROR_TRUNCATED;
    for (let i: u32 = 0; i < count; i++) {
      store<i64>(dst + <usize>i * 8, value);
      value += step;
    }
    return 0;
  }
  if (encoding === INT_HUFFMAN) return decodeHuffman(count, dst);
  if (encoding < INT_PACKED || encoding > INT_DELTA2) return ERROR_ENCODING;
  const order = encoding - INT_PACKED;
  if (count < order) return ERROR_ENCODING;
  readPacked(count, order, dst);
  return failed ? ERROR_TRUNCATED : 0;
}
