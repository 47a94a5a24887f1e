// Decoded columns in the cache, as narrow as their values allow: integers as offsets of one, two or
// four bytes from their minimum, and regular times as a formula. So four times as many fit into the
// cache, and aggregates over narrow columns are faster. src/column-cache.ts manages the memory.
import {
  AREA_EXPANDED,
  BLOCK_BITS,
  BLOCK_FLOATS,
  BLOCK_INTEGERS,
  CACHED_HEADER_BYTES,
  VALUE_BOOLEAN,
  VALUE_FLOAT,
  VALUE_TIME,
  VALUE_UNSIGNED,
} from './abi.gen';
import { finishBlock } from './blocks';
import { scratch } from './memory';
import { filterBytes, filterFloats, filterIntegers, filterUnsigneds } from './filters';

// A cached column is this header, then `count` values of the form's width.
const FORM: usize = 0;
const COUNT: usize = 4;
const BASE: usize = 8;
const STEP: usize = 16;
const HEADER: usize = CACHED_HEADER_BYTES;

/** Value i is base + i * step; no values are stored. For times only. */
export const FORM_STEP: u32 = 0;
// Offsets from the base, which is the smallest value.
export const FORM_U8: u32 = 1;
export const FORM_U16: u32 = 2;
export const FORM_U32: u32 = 4;
export const FORM_I64: u32 = 8;
export const FORM_F64: u32 = 9;
export const FORM_BITS: u32 = 10;

@inline
export function formOf(column: usize): u32 {
  return load<u32>(column, FORM);
}

@inline
export function countOf(column: usize): u32 {
  return load<u32>(column, COUNT);
}

@inline
export function baseOf(column: usize): i64 {
  return load<i64>(column, BASE);
}

@inline
export function stepOf(column: usize): i64 {
  return load<i64>(column, STEP);
}

@inline
export function dataOf(column: usize): usize {
  return column + HEADER;
}

@inline
function widthOf(form: u32): usize {
  return form <= FORM_I64 ? <usize>form : form === FORM_F64 ? 8 : 1;
}

/**
 * Decodes the block of `startBlock` to `decoded`, which has room for a cached column of `values`
 * values at full width. Returns the size of the column in the cache, or an error. `storeCached`
 * must follow.
 */
export function decodeForCache(kind: u32, values: u32, decoded: usize): i32 {
  const blockKind =
    kind === VALUE_FLOAT ? BLOCK_FLOATS : kind === VALUE_BOOLEAN ? BLOCK_BITS : BLOCK_INTEGERS;
  const error = finishBlock(blockKind, values, dataOf(decoded));
  if (error < 0) return error;
  store<u32>(decoded, values, COUNT);
  if (kind === VALUE_FLOAT) plan(decoded, FORM_F64, 0, 0);
  else if (kind === VALUE_BOOLEAN) plan(decoded, FORM_BITS, 0, 0);
  else if (kind === VALUE_TIME) planTimes(decoded);
  else planOffsets(decoded, kind === VALUE_UNSIGNED);
  return <i32>((HEADER + <usize>values * widthOf(formOf(decoded)) + 15) & ~15);
}

/** Sets the header of the narrow column; the values still have their full width. */
function plan(decoded: usize, form: u32, base: i64, step: i64): void {
  store<u32>(decoded, form, FORM);
  store<i64>(decoded, base, BASE);
  store<i64>(decoded, step, STEP);
}

function planTimes(decoded: usize): void {
  const values = dataOf(decoded);
  const count = countOf(decoded);
  plan(decoded, FORM_I64, 0, 0);
  if (count === 0) return;
  const first = load<i64>(values);
  const difference = count < 2 ? 0 : load<i64>(values, 8) - first;
  for (let i: u32 = 1; i < count; i++) {
    const p = values + <usize>i * 8;
    if (load<i64>(p) - load<i64>(p - 8) !== difference) return;
  }
  plan(decoded, FORM_STEP, first, difference);
}

function planOffsets(decoded: usize, isUnsigned: bool): void {
  const values = dataOf(decoded);
  const count = countOf(decoded);
  plan(decoded, FORM_I64, 0, 0);
  if (count === 0) return;
  // With the highest bit flipped, uint64 sorts like int64.
  const flip: i64 = isUnsigned ? i64.MIN_VALUE : 0;
  let least = load<i64>(values) ^ flip;
  let most = least;
  for (let i: u32 = 1; i < count; i++) {
    const value = load<i64>(values + <usize>i * 8) ^ flip;
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  const range = <u64>(most - least);
  if (range > 0xffffffff) return;
  const form = range < 0x100 ? FORM_U8 : range < 0x10000 ? FORM_U16 : FORM_U32;
  plan(decoded, form, least ^ flip, 0);
}

/** Writes the column that `decodeForCache` left at `decoded` to `column`. */
export function storeCached(decoded: usize, column: usize): void {
  const form = formOf(decoded);
  memory.copy(column, decoded, HEADER);
  switch (form) {
    case FORM_STEP:
      break;
    case FORM_U8:
      storeOffsets<u8>(decoded, column);
      break;
    case FORM_U16:
      storeOffsets<u16>(decoded, column);
      break;
    case FORM_U32:
      storeOffsets<u32>(decoded, column);
      break;
    default:
      memory.copy(dataOf(column), dataOf(decoded), <usize>countOf(decoded) * widthOf(form));
  }
}

@inline
function storeOffsets<T>(decoded: usize, column: usize): void {
  const values = dataOf(decoded);
  const data = dataOf(column);
  const base = baseOf(decoded);
  const count = countOf(decoded);
  for (let i: u32 = 0; i < count; i++) {
    store<T>(data + <usize>i * sizeof<T>(), <T>(load<i64>(values + <usize>i * 8) - base));
  }
}

/** Number of rows with a time below `time`. */
export function rowsBefore(times: usize, time: i64): u32 {
  const rows = countOf(times);
  let low: u32 = 0;
  let high = rows;
  if (rows === 0) return 0;
  if (formOf(times) === FORM_STEP) {
    const first = baseOf(times);
    if (time <= first) return 0;
    const every = stepOf(times);
    // Times ascend, so only a single row has no step.
    if (every === 0) return 1;
    const passed = (<u64>(time - first) - 1) / <u64>every + 1;
    return passed < <u64>rows ? <u32>passed : rows;
  }
  const data = dataOf(times);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (load<i64>(data + <usize>middle * 8) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

@inline
function expandOffsets<T>(data: usize, first: i64, from: u32, to: u32, dst: usize): void {
  for (let i = from; i < to; i++) {
    store<i64>(dst, first + <i64>load<T>(data + <usize>i * sizeof<T>()));
    dst += 8;
  }
}

/** Writes rows [from, to) to `dst` at full width: 8 bytes each, 1 for booleans. */
export function expandCached(column: usize, from: u32, to: u32, dst: usize): void {
  const data = dataOf(column);
  const first = baseOf(column);
  switch (formOf(column)) {
    case FORM_STEP: {
      const every = stepOf(column);
      let value = first + every * <i64>from;
      for (let i = from; i < to; i++) {
        store<i64>(dst, value);
        dst += 8;
        value += every;
      }
      break;
    }
    case FORM_U8:
      expandOffsets<u8>(data, first, from, to, dst);
      break;
    case FORM_U16:
      expandOffsets<u16>(data, first, from, to, dst);
      break;
    case FORM_U32:
      expandOffsets<u32>(data, first, from, to, dst);
      break;
    case FORM_BITS:
      memory.copy(dst, data + <usize>from, <usize>(to - from));
      break;
    default:
      memory.copy(dst, data + <usize>from * 8, <usize>(to - from) * 8);
  }
}

@inline
function gatherOffsets<T>(data: usize, first: i64, rows: usize, n: u32, dst: usize): void {
  for (let i: u32 = 0; i < n; i++) {
    const row = <usize>load<u32>(rows + <usize>i * 4);
    store<i64>(dst + <usize>i * 8, first + <i64>load<T>(data + row * sizeof<T>()));
  }
}

/** Writes the `n` rows with the numbers at `rows` to `dst` at full width. */
export function gatherCached(column: usize, rows: usize, n: u32, dst: usize): void {
  const data = dataOf(column);
  const first = baseOf(column);
  switch (formOf(column)) {
    case FORM_STEP: {
      const every = stepOf(column);
      for (let i: u32 = 0; i < n; i++) {
        const row = <i64>load<u32>(rows + <usize>i * 4);
        store<i64>(dst + <usize>i * 8, first + every * row);
      }
      break;
    }
    case FORM_U8:
      gatherOffsets<u8>(data, first, rows, n, dst);
      break;
    case FORM_U16:
      gatherOffsets<u16>(data, first, rows, n, dst);
      break;
    case FORM_U32:
      gatherOffsets<u32>(data, first, rows, n, dst);
      break;
    case FORM_BITS:
      for (let i: u32 = 0; i < n; i++) {
        const row = <usize>load<u32>(rows + <usize>i * 4);
        store<u8>(dst + <usize>i, load<u8>(data + row));
      }
      break;
    default:
      gatherOffsets<i64>(data, 0, rows, n, dst);
  }
}

/**
 * Writes the numbers of the rows that the mask keeps to `dst`, which has room for one more. `first`
 * is the number of the mask's first row. Returns how many there are.
 */
export function rowsOfMask(mask: usize, masked: u32, first: u32, dst: usize): u32 {
  let kept: u32 = 0;
  for (let i: u32 = 0; i < masked; i++) {
    store<u32>(dst + <usize>kept * 4, first + i);
    kept += <u32>load<u8>(mask + <usize>i);
  }
  return kept;
}

/**
 * Clears the mask for rows of [from, to) where the comparison is false; see filters.ts. Returns
 * false when memory is exhausted.
 */
export function filterCached(
  column: usize,
  kind: u32,
  from: u32,
  to: u32,
  bound: i64,
  operation: u32,
  flip: u32,
  mask: usize,
): bool {
  const rows = to - from;
  const values = scratch(AREA_EXPANDED, <usize>rows * 8);
  if (values === 0) return false;
  expandCached(column, from, to, values);
  if (kind === VALUE_FLOAT)
    filterFloats(values, rows, reinterpret<f64>(bound), operation, flip, mask);
  else if (kind === VALUE_UNSIGNED)
    filterUnsigneds(values, rows, <u64>bound, operation, flip, mask);
  else if (kind === VALUE_BOOLEAN) filterBytes(values, rows, <u32>bound, operation, flip, mask);
  else filterIntegers(values, rows, bound, operation, flip, mask);
  return true;
}
