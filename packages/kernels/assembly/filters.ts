// Masks of rows, and selection by masks. A mask has a byte per row, 0 or 1.
import { COMPARE_AT_MOST, COMPARE_EQUAL, COMPARE_LESS } from './abi.gen';

@inline
function matches<T>(value: T, bound: T, op: u32): u8 {
  if (op === COMPARE_EQUAL) return value === bound ? 1 : 0;
  if (op === COMPARE_LESS) return value < bound ? 1 : 0;
  return value <= bound ? 1 : 0;
}

@inline
function filterWith<T>(values: usize, count: u32, bound: T, op: u32, flip: u8, mask: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const match = matches<T>(load<T>(values + <usize>i * sizeof<T>()), bound, op) ^ flip;
    store<u8>(mask + <usize>i, load<u8>(mask + <usize>i) & match);
  }
}

@inline
function filterOp<T>(values: usize, count: u32, bound: T, op: u32, flip: u8, mask: usize): void {
  // A branch per operation, so that it is a constant inside each loop.
  if (op === COMPARE_EQUAL) filterWith<T>(values, count, bound, COMPARE_EQUAL, flip, mask);
  else if (op === COMPARE_LESS) filterWith<T>(values, count, bound, COMPARE_LESS, flip, mask);
  else filterWith<T>(values, count, bound, COMPARE_AT_MOST, flip, mask);
}

// Clears the mask where the comparison is false. A value is kept if it is equal to (0), less than
// (1), or at most (2) the bound; with `flip` 1 if it is not.
export function filterFloats(
  values: usize,
  count: u32,
  bound: f64,
  op: u32,
  flip: u32,
  mask: usize,
): void {
  filterOp<f64>(values, count, bound, op, <u8>flip, mask);
}
export function filterIntegers(
  values: usize,
  count: u32,
  bound: i64,
  op: u32,
  flip: u32,
  mask: usize,
): void {
  filterOp<i64>(values, count, bound, op, <u8>flip, mask);
}
export function filterUnsigneds(
  values: usize,
  count: u32,
  bound: u64,
  op: u32,
  flip: u32,
  mask: usize,
): void {
  filterOp<u64>(values, count, bound, op, <u8>flip, mask);
}
export function filterBytes(
  values: usize,
  count: u32,
  bound: u32,
  op: u32,
  flip: u32,
  mask: usize,
): void {
  filterOp<u8>(values, count, <u8>bound, op, <u8>flip, mask);
}

/**
 * Copies the values (1, 4 or 8 bytes wide) of the rows in the mask to `dst`. Returns their number.
 */
export function selectRows(values: usize, width: u32, count: u32, mask: usize, dst: usize): u32 {
  let out: u32 = 0;
  // Every value is stored, but the position moves only for rows in the mask: there is no branch to
  // predict.
  if (width === 8) {
    for (let i: u32 = 0; i < count; i++) {
      store<u64>(dst + <usize>out * 8, load<u64>(values + <usize>i * 8));
      out += <u32>load<u8>(mask + <usize>i);
    }
  } else if (width === 4) {
    for (let i: u32 = 0; i < count; i++) {
      store<u32>(dst + <usize>out * 4, load<u32>(values + <usize>i * 4));
      out += <u32>load<u8>(mask + <usize>i);
    }
  } else {
    for (let i: u32 = 0; i < count; i++) {
      store<u8>(dst + <usize>out, load<u8>(values + <usize>i));
      out += <u32>load<u8>(mask + <usize>i);
    }
  }
  return out;
}

/** Number of rows in the mask. */
export function countMask(mask: usize, count: u32): u32 {
  let total: u32 = 0;
  let i: u32 = 0;
  // Adds sixteen bytes at a time, pair by pair, into four 32-bit lanes.
  let sums = i32x4.splat(0);
  for (; i + 16 <= count; i += 16) {
    const bytes = v128.load(mask + <usize>i);
    sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(bytes)));
  }
  total =
    i32x4.extract_lane(sums, 0) +
    i32x4.extract_lane(sums, 1) +
    i32x4.extract_lane(sums, 2) +
    i32x4.extract_lane(sums, 3);
  for (; i < count; i++) total += <u32>load<u8>(mask + <usize>i);
  return total;
}
