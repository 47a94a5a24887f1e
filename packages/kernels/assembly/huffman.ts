// Codec for values, or differences, that span at most 256 steps: a canonical Huffman code of at
// most ten bits. It comes closer to the entropy than whole bits per group (a random walk with steps
// of about one takes 0.28 instead of 0.5 bytes per value). Format: docs/formats/encodings.md,
// "Huffman".
import { ERROR_TRUNCATED, ERROR_VALUE } from './abi.gen';
import {
  at,
  failed,
  moveTo,
  readByte,
  readCount,
  readVarint,
  remaining,
  unzigzag,
  varintBytes,
  writeVarint,
  zigzag,
} from './bytes';

const BITS_MAX: u32 = 10;
const TABLE_ENTRIES: u32 = 1024;
const SYMBOLS_MAX: u32 = 256;

const counts: usize = memory.data(256 * 4, 16);
const scaled: usize = memory.data(256 * 4, 16);
const lengths: usize = memory.data(256, 16);
const codes: usize = memory.data(256 * 2, 16);
// The Huffman tree: weights and parents of up to 511 nodes, and the nodes that have no parent yet.
const weights: usize = memory.data(512 * 4, 16);
const parents: usize = memory.data(512 * 2, 16);
const symbolOf: usize = memory.data(256 * 2, 16);
const single: usize = memory.data(1024 * 2, 16);
// For each pattern of ten bits: up to six symbols in the lower bytes, then their number, then the
// bits that they take.
const multiple: usize = memory.data(1024 * 8, 16);

let planOrder: u32 = 0;
let planBase: i64 = 0;
let planSymbols: u32 = 0;
let planStreamBytes: usize = 0;

@inline
function lengthOf(symbol: u32): u32 {
  return <u32>load<u8>(lengths + <usize>symbol);
}

/**
 * Whether the sequence of differences of this order spans at most 256 steps. Sets `planBase` and
 * `planSymbols`.
 */
function fits(src: usize, count: u32, order: u32): bool {
  let min = i64.MAX_VALUE;
  let max = i64.MIN_VALUE;
  for (let i = order; i < count; i++) {
    const p = src + <usize>i * 8;
    const value = order === 0 ? load<i64>(p) : load<i64>(p) - load<i64>(p - 8);
    min = value < min ? value : min;
    max = value > max ? value : max;
    if ((i & 127) === 127 && <u64>(max - min) >= <u64>SYMBOLS_MAX) return false;
  }
  if (<u64>(max - min) >= <u64>SYMBOLS_MAX) return false;
  planBase = min;
  planSymbols = <u32>(max - min) + 1;
  return planSymbols > 1;
}

/**
 * Computes code lengths from `counts`. While one is above BITS_MAX, it reduces the differences of
 * the counts.
 */
function assignLengths(symbolCount: u32): void {
  memory.copy(scaled, counts, <usize>symbolCount * 4);
  while (!tryAssignLengths(symbolCount)) {
    for (let i: u32 = 0; i < symbolCount; i++) {
      const p = scaled + <usize>i * 4;
      const value = load<u32>(p);
      if (value > 0) store<u32>(p, (value >>> 1) | 1);
    }
  }
}

function tryAssignLengths(symbolCount: u32): bool {
  let leaves: u32 = 0;
  for (let i: u32 = 0; i < symbolCount; i++) {
    const weight = load<u32>(scaled + <usize>i * 4);
    if (weight === 0) continue;
    // Insertion sort of at most 256 leaves by their weights.
    let k = leaves;
    while (k > 0 && load<u32>(weights + <usize>(k - 1) * 4) > weight) {
      store<u32>(weights + <usize>k * 4, load<u32>(weights + <usize>(k - 1) * 4));
      store<u16>(symbolOf + <usize>k * 2, load<u16>(symbolOf + <usize>(k - 1) * 2));
      k--;
    }
    store<u32>(weights + <usize>k * 4, weight);
    store<u16>(symbolOf + <usize>k * 2, <u16>i);
    leaves++;
  }
  // Two queues: the leaves in order, and the inner nodes, which are created in order of weight.
  let leaf: u32 = 0;
  let inner = leaves;
  let next = leaves;
  const nodes: u32 = 2 * leaves - 1;
  while (next < nodes) {
    let weight: u32 = 0;
    for (let k = 0; k < 2; k++) {
      let pick: u32;
      if (
        leaf < leaves &&
        (inner >= next ||
          load<u32>(weights + <usize>leaf * 4) <= load<u32>(weights + <usize>inner * 4))
      ) {
        pick = leaf++;
      } else {
        pick = inner++;
      }
      weight += load<u32>(weights + <usize>pick * 4);
      store<u16>(parents + <usize>pick * 2, <u16>next);
    }
    store<u32>(weights + <usize>next * 4, weight);
    next++;
  }
  memory.fill(lengths, 0, <usize>symbolCount);
  // Depths from the root down. They overwrite the weights, which are not needed any more.
  store<u32>(weights + <usize>(nodes - 1) * 4, 0);
  for (let node = <i32>nodes - 2; node >= 0; node--) {
    const parent = load<u16>(parents + <usize>node * 2);
    const depth = load<u32>(weights + <usize>parent * 4) + 1;
    store<u32>(weights + <usize>node * 4, depth);
    if (<u32>node < leaves) {
      if (depth > BITS_MAX) return false;
      store<u8>(lengths + <usize>load<u16>(symbolOf + <usize>node * 2), <u8>depth);
    }
  }
  return true;
}

/**
 * Prepares a code for the values. Returns the bytes that it will take, or 0 if this encoding cannot
 * be used.
 */
export function huffmanPlan(src: usize, count: u32): usize {
  // For fewer values, the table of lengths costs more than the code saves.
  if (count < 64) return 0;
  if (fits(src, count, 1)) planOrder = 1;
  else if (fits(src, count, 0)) planOrder = 0;
  else return 0;
  memory.fill(counts, 0, 1024);
  const order = planOrder;
  const base = planBase;
  for (let i = order; i < count; i++) {
    const p = src + <usize>i * 8;
    const value = order === 0 ? load<i64>(p) : load<i64>(p) - load<i64>(p - 8);
    const entry = counts + <usize>(value - base) * 4;
    store<u32>(entry, load<u32>(entry) + 1);
  }
  assignLengths(planSymbols);
  let bits: u64 = 0;
  for (let i: u32 = 0; i < planSymbols; i++) {
    bits += <u64>load<u32>(counts + <usize>i * 4) * <u64>lengthOf(i);
  }
  planStreamBytes = <usize>((bits + 7) >> 3);
  const head: usize = order === 0 ? 0 : <usize>varintBytes(zigzag(load<i64>(src)));
  return (
    3 +
    head +
    <usize>varintBytes(zigzag(base)) +
    <usize>((planSymbols + 1) >> 1) +
    <usize>varintBytes(<u64>planStreamBytes) +
    planStreamBytes
  );
}

/**
 * Assigns canonical codes, with reversed bits because the stream is read from its low end. Returns
 * false if the lengths are not a complete code.
 */
function assignCodes(symbolCount: u32): bool {
  let code: u32 = 0;
  for (let length: u32 = 1; length <= BITS_MAX; length++) {
    for (let i: u32 = 0; i < symbolCount; i++) {
      if (lengthOf(i) !== length) continue;
      if (code >= (<u32>1) << length) return false;
      let reversed: u32 = 0;
      for (let k: u32 = 0; k < length; k++) reversed |= ((code >>> k) & 1) << (length - 1 - k);
      store<u16>(codes + <usize>i * 2, <u16>reversed);
      code++;
    }
    code <<= 1;
  }
  // A complete code uses all patterns, so that every pattern in the stream has a meaning.
  return code === TABLE_ENTRIES << 1;
}

/** Writes the code of `huffmanPlan`. */
export function encodeHuffman(src: usize, count: u32, dst: usize): usize {
  const order = planOrder;
  const base = planBase;
  store<u8>(dst++, <u8>order);
  if (order === 1) dst = writeVarint(dst, zigzag(load<i64>(src)));
  dst = writeVarint(dst, zigzag(base));
  store<u8>(dst++, <u8>(planSymbols - 1));
  store<u8>(lengths + <usize>planSymbols, 0);
  for (let i: u32 = 0; i < planSymbols; i += 2) {
    const high = i + 1 < planSymbols ? lengthOf(i + 1) : 0;
    store<u8>(dst++, <u8>(lengthOf(i) | (high << 4)));
  }
  dst = writeVarint(dst, <u64>planStreamBytes);
  assignCodes(planSymbols);
  let word: u64 = 0;
  let used: u64 = 0;
  let out = dst;
  for (let i = order; i < count; i++) {
    const p = src + <usize>i * 8;
    const value = order === 0 ? load<i64>(p) : load<i64>(p) - load<i64>(p - 8);
    const symbol = <u32>(value - base);
    word |= (<u64>load<u16>(codes + <usize>symbol * 2)) << used;
    used += <u64>lengthOf(symbol);
    // 48 used bits leave room for a code of ten bits.
    if (used >= 48) {
      store<u64>(out, word);
      out += 6;
      word >>= 48;
      used -= 48;
    }
  }
  store<u64>(out, word);
  return dst + planStreamBytes;
}

function prepareTables(symbolCount: u32): void {
  for (let i: u32 = 0; i < symbolCount; i++) {
    const length = lengthOf(i);
    if (length === 0) continue;
    const step = (<u32>1) << length;
    const entry = <u16>(i | (length << 8));
    for (
      let pattern = <u32>load<u16>(codes + <usize>i * 2);
      pattern < TABLE_ENTRIES;
      pattern += step
    ) {
      store<u16>(single + <usize>pattern * 2, entry);
    }
  }
  for (let pattern: u32 = 0; pattern < TABLE_ENTRIES; pattern++) {
    let bits: u32 = 0;
    let symbols: u64 = 0;
    let found: u32 = 0;
    while (found < 6) {
      const entry = <u32>load<u16>(single + <usize>(pattern >>> bits) * 2);
      const length = entry >>> 8;
      // The bits above are unknown: only codes that end within the pattern are certain.
      if (bits + length > BITS_MAX) break;
      symbols |= (<u64>(entry & 255)) << (found * 8);
      found++;
      bits += length;
    }
    store<u64>(multiple + <usize>pattern * 8, symbols | ((<u64>found) << 48) | ((<u64>bits) << 56));
  }
}

/** Decodes `count` values to `dst`. Returns 0 or an error. */
export function decodeHuffman(count: u32, dst: usize): i32 {
  const order = readByte();
  if (order > 1) return ERROR_VALUE;
  let value: i64 = 0;
  const out = dst + <usize>count * 8;
  if (order === 1) {
    value = unzigzag(readVarint());
    store<i64>(dst, value);
    dst += 8;
  }
  const base = unzigzag(readVarint());
  const symbolCount = readByte() + 1;
  for (let i: u32 = 0; i < symbolCount; i += 2) {
    const pair = readByte();
    store<u8>(lengths + <usize>i, <u8>(pair & 15));
    store<u8>(lengths + <usize>min<u32>(i + 1, 255), <u8>(pair >>> 4));
    if ((pair & 15) > BITS_MAX || pair >>> 4 > BITS_MAX) return ERROR_VALUE;
  }
  const streamBytes = <usize>readCount(u32.MAX_VALUE);
  if (failed || streamBytes > remaining()) return ERROR_TRUNCATED;
  if (!assignCodes(symbolCount)) return ERROR_VALUE;
  prepareTables(symbolCount);
  const start = at;
  const bitLimit = <u64>streamBytes * 8;
  let bit: u64 = 0;
  const absolute: i64 = order === 1 ? 1 : 0;
  // Six symbols at a time, while the output has room for six.
  while (dst + 48 <= out) {
    if (bit > bitLimit) return ERROR_TRUNCATED;
    const word = load<u64>(start + <usize>(bit >> 3)) >> (bit & 7);
    const entry = load<u64>(multiple + <usize>(word & 1023) * 8);
    const found = <u32>(entry >> 48) & 255;
    bit += entry >> 56;
    let symbols = entry;
    for (let k: u32 = 0; k < found; k++) {
      value = value * absolute + base + <i64>(symbols & 255);
      store<i64>(dst, value);
      dst += 8;
      symbols >>= 8;
    }
  }
  while (dst < out) {
    if (bit > bitLimit) return ERROR_TRUNCATED;
    const word = load<u64>(start + <usize>(bit >> 3)) >> (bit & 7);
    const entry = <u32>load<u16>(single + <usize>(word & 1023) * 2);
    bit += <u64>(entry >>> 8);
    value = value * absolute + base + <i64>(entry & 255);
    store<i64>(dst, value);
    dst += 8;
  }
  if (bit > bitLimit) return ERROR_TRUNCATED;
  moveTo(start + streamBytes);
  return 0;
}
