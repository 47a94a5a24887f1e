// A canonical Huffman code of at most ten bits for up to 256 symbols: its lengths from counts, its
// description, and tables that decode several symbols at a time. Format: docs/formats/encodings.md,
// "Huffman".
import { ERROR_TRUNCATED, ERROR_VALUE } from './abi.gen';
import { failed, readByte } from './bytes';

export const BITS_MAX: u32 = 10;
const TABLE_ENTRIES: u32 = 1024;
/** Most symbols of a code. */
export const SYMBOLS_MAX: u32 = 256;

/** How often each symbol occurs (u32 each). */
export const counts: usize = memory.data(256 * 4, 16);
const scaled: usize = memory.data(256 * 4, 16);
const lengths: usize = memory.data(256, 16);
/** The code of each symbol (u16). */
export const codes: usize = memory.data(256 * 2, 16);
// The Huffman tree: weights and parents of up to 511 nodes, and the nodes that have no parent yet.
const weights: usize = memory.data(512 * 4, 16);
const parents: usize = memory.data(512 * 2, 16);
const symbolOf: usize = memory.data(256 * 2, 16);
/** For each pattern of ten bits the bits of the first code, then its symbol (a byte each). */
export const single: usize = memory.data(1024 * 2, 16);
/**
 * For each pattern of ten bits: up to six symbols in the lower bytes, then their number, then the
 * bits that they take.
 */
export const multiple: usize = memory.data(1024 * 8, 16);

@inline
export function lengthOf(symbol: u32): u32 {
  return <u32>load<u8>(lengths + <usize>symbol);
}

/**
 * Computes code lengths from `counts`. While one is above BITS_MAX, it reduces the differences of
 * the counts.
 */
export function assignLengths(symbolCount: u32): void {
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

/** Bits of all symbols that were counted. */
export function codedBits(symbolCount: u32): u64 {
  let bits: u64 = 0;
  for (let i: u32 = 0; i < symbolCount; i++) {
    bits += <u64>load<u32>(counts + <usize>i * 4) * <u64>lengthOf(i);
  }
  return bits;
}

/** Writes the lengths of a code, and assigns it. Returns the end. */
export function writeCode(symbolCount: u32, dst: usize): usize {
  store<u8>(dst++, <u8>(symbolCount - 1));
  for (let i: u32 = 0; i < symbolCount; i += 2) {
    const high = i + 1 < symbolCount ? lengthOf(i + 1) : 0;
    store<u8>(dst++, <u8>(lengthOf(i) | (high << 4)));
  }
  assignCodes(symbolCount);
  return dst;
}

/** Counts symbols, a byte each. */
export function countSymbols(src: usize, bytes: usize): void {
  memory.fill(counts, 0, <usize>SYMBOLS_MAX * 4);
  for (let i: usize = 0; i < bytes; i++) {
    const entry = counts + <usize>load<u8>(src + i) * 4;
    store<u32>(entry, load<u32>(entry) + 1);
  }
}

/**
 * Writes the codes of symbols, a byte each, of which `first` has the first code. Returns their end;
 * up to seven bytes behind it are overwritten.
 */
export function writeCodes(src: usize, bytes: usize, first: u32, dst: usize): usize {
  let word: u64 = 0;
  let used: u64 = 0;
  for (let i: usize = 0; i < bytes; i++) {
    const symbol = <u32>load<u8>(src + i) - first;
    word |= (<u64>load<u16>(codes + <usize>symbol * 2)) << used;
    used += <u64>lengthOf(symbol);
    // 48 used bits leave room for a code of ten bits.
    if (used >= 48) {
      store<u64>(dst, word);
      dst += 6;
      word >>= 48;
      used -= 48;
    }
  }
  store<u64>(dst, word);
  return dst + <usize>((used + 7) >> 3);
}

/** Reads the lengths of a code. Returns the number of symbols or an error. */
export function readCode(): i32 {
  const symbolCount = readByte() + 1;
  for (let i: u32 = 0; i < symbolCount; i += 2) {
    const pair = readByte();
    store<u8>(lengths + <usize>i, <u8>(pair & 15));
    store<u8>(lengths + <usize>min<u32>(i + 1, 255), <u8>(pair >>> 4));
    if ((pair & 15) > BITS_MAX || pair >>> 4 > BITS_MAX) return ERROR_VALUE;
  }
  return failed ? ERROR_TRUNCATED : <i32>symbolCount;
}

// By length (u32 each): how many codes there are, then the next one.
const codesOf: usize = memory.data(16 * 4, 16);

/**
 * Assigns canonical codes, with reversed bits because the stream is read from its low end. Returns
 * false if the lengths are not a complete code.
 */
function assignCodes(symbolCount: u32): bool {
  memory.fill(codesOf, 0, 16 * 4);
  for (let i: u32 = 0; i < symbolCount; i++) {
    const entry = codesOf + <usize>lengthOf(i) * 4;
    store<u32>(entry, load<u32>(entry) + 1);
  }
  let first: u32 = 0;
  for (let length: u32 = 1; length <= BITS_MAX; length++) {
    const entry = codesOf + <usize>length * 4;
    const count = load<u32>(entry);
    store<u32>(entry, first);
    first += count;
    if (first > (<u32>1) << length) return false;
    first <<= 1;
  }
  // A complete code uses all patterns, so that every pattern in the stream has a meaning.
  if (first !== TABLE_ENTRIES << 1) return false;
  for (let i: u32 = 0; i < symbolCount; i++) {
    const length = lengthOf(i);
    if (length === 0) continue;
    const entry = codesOf + <usize>length * 4;
    let code = load<u32>(entry);
    store<u32>(entry, code + 1);
    let reversed: u32 = 0;
    for (let k: u32 = 0; k < length; k++) {
      reversed = (reversed << 1) | (code & 1);
      code >>>= 1;
    }
    store<u16>(codes + <usize>i * 2, <u16>reversed);
  }
  return true;
}

/**
 * Prepares `single` for the code that was read; `first` is the value of its first symbol. Returns
 * false when it is no complete code.
 */
export function prepareSingle(symbolCount: u32, first: u32): bool {
  if (!assignCodes(symbolCount)) return false;
  for (let i: u32 = 0; i < symbolCount; i++) {
    const length = lengthOf(i);
    if (length === 0) continue;
    const step = (<u32>1) << length;
    const entry = <u16>((((i + first) & 255) << 8) | length);
    for (
      let pattern = <u32>load<u16>(codes + <usize>i * 2);
      pattern < TABLE_ENTRIES;
      pattern += step
    ) {
      store<u16>(single + <usize>pattern * 2, entry);
    }
  }
  return true;
}

/** Prepares `multiple` after `single`. */
export function prepareMultiple(): void {
  for (let pattern: u32 = 0; pattern < TABLE_ENTRIES; pattern++) {
    let bits: u32 = 0;
    let symbols: u64 = 0;
    let found: u32 = 0;
    while (found < 6) {
      const entry = <u32>load<u16>(single + <usize>(pattern >>> bits) * 2);
      const length = entry & 255;
      // The bits above are unknown: only codes that end within the pattern are certain.
      if (bits + length > BITS_MAX) break;
      symbols |= (<u64>(entry >>> 8)) << (found * 8);
      found++;
      bits += length;
    }
    store<u64>(multiple + <usize>pattern * 8, symbols | ((<u64>found) << 48) | ((<u64>bits) << 56));
  }
}
