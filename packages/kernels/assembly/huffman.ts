// Codec for values, or differences, that span at most 256 steps: a Huffman code. It comes closer to
// the entropy than whole bits per group (a random walk with steps of about one takes 0.28 instead
// of 0.5 bytes per value). Format: docs/formats/encodings.md, "Huffman".
import { AREA_SYMBOLS, ERROR_TRUNCATED, ERROR_VALUE } from './abi.gen';
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
import {
  assignLengths,
  codedBits,
  countSymbols,
  multiple,
  prepareMultiple,
  prepareSingle,
  readCode,
  single,
  SYMBOLS_MAX,
  writeCode,
  writeCodes,
} from './huffman-code';
import { scratch } from './memory';

let planOrder: u32 = 0;
let planBase: i64 = 0;
let planSymbols: u32 = 0;
let planStreamBytes: usize = 0;
/** The values as symbols, a byte each. */
let planned: usize = 0;

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
 * Prepares a code for the values. Returns the bytes that it will take, or 0 if this encoding cannot
 * be used.
 */
export function huffmanPlan(src: usize, count: u32): usize {
  // For fewer values, the table of lengths costs more than the code saves.
  if (count < 64) return 0;
  if (fits(src, count, 1)) planOrder = 1;
  else if (fits(src, count, 0)) planOrder = 0;
  else return 0;
  planned = scratch(AREA_SYMBOLS, <usize>count);
  if (planned === 0) return 0;
  const order = planOrder;
  const base = planBase;
  for (let i = order; i < count; i++) {
    const p = src + <usize>i * 8;
    const value = order === 0 ? load<i64>(p) : load<i64>(p) - load<i64>(p - 8);
    store<u8>(planned + <usize>(i - order), <u8>(value - base));
  }
  countSymbols(planned, <usize>(count - order));
  assignLengths(planSymbols);
  planStreamBytes = <usize>((codedBits(planSymbols) + 7) >> 3);
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

/** Writes the code of `huffmanPlan`. */
export function encodeHuffman(src: usize, count: u32, dst: usize): usize {
  const order = planOrder;
  const base = planBase;
  store<u8>(dst++, <u8>order);
  if (order === 1) dst = writeVarint(dst, zigzag(load<i64>(src)));
  dst = writeVarint(dst, zigzag(base));
  dst = writeCode(planSymbols, dst);
  dst = writeVarint(dst, <u64>planStreamBytes);
  return writeCodes(planned, <usize>(count - order), 0, dst);
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
  const symbolCount = readCode();
  if (symbolCount < 0) return symbolCount;
  const streamBytes = <usize>readCount(u32.MAX_VALUE);
  if (failed || streamBytes > remaining()) return ERROR_TRUNCATED;
  if (!prepareSingle(symbolCount, 0)) return ERROR_VALUE;
  prepareMultiple();
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
    bit += <u64>(entry & 255);
    value = value * absolute + base + <i64>(entry >>> 8);
    store<i64>(dst, value);
    dst += 8;
  }
  if (bit > bitLimit) return ERROR_TRUNCATED;
  moveTo(start + streamBytes);
  return 0;
}
