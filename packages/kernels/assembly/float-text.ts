// Prints doubles as the shortest decimal number that reads back as the same double; among several,
// the nearest one. After Giulietti ("The Schubfach way to render doubles", 2021): three products
// with a 128-bit power of ten.
import { FLOAT_POWER_LEAST, FLOAT_POWER_MOST } from './abi.gen';
import { digitCount, writePadded } from './digits';
import { highProduct } from './number';

// 10^k for k in [FLOAT_POWER_LEAST, FLOAT_POWER_MOST] as 128 bits whose highest one is set, rounded
// up; the upper half first. The loader fills the table (src/float-powers.ts).
const powers: usize = memory.data((FLOAT_POWER_MOST - FLOAT_POWER_LEAST + 1) * 16, 16);

export function floatPowers(): usize {
  return powers;
}

const ZERO: u8 = 48;
const MINUS: u8 = 45;
const POINT: u8 = 46;

/** value * 10^k / 2^128. The lowest bit tells whether the result is inexact. */
@inline
function scaled(high: u64, low: u64, value: u64): u64 {
  const middle = high * value;
  const sum = middle + highProduct(low, value);
  const top = highProduct(high, value) + (sum < middle ? 1 : 0);
  return top | (sum > 1 ? 1 : 0);
}

/** Result of `toDecimal`: digits * 10^exponent. */
let digits: u64 = 0;
let exponent: i32 = 0;

/** Converts any finite double except zero; `bits` are without the sign. */
function toDecimal(bits: u64): void {
  const fraction = bits & 0xfffffffffffff;
  const biased = <i32>(bits >> 52);
  let c = fraction;
  let q = -1074;
  if (biased !== 0) {
    c |= 0x10000000000000;
    q = biased - 1075;
    // Whole numbers are their own digits.
    if (q <= 0 && q > -53 && (c & (((<u64>1) << (<u64>-q)) - 1)) === 0) {
      digits = c >> <u64>-q;
      exponent = 0;
      return;
    }
  }
  const isEven = (c & 1) === 0;
  // Below a power of two, the next smaller double is only half as far away.
  const isLowerCloser = fraction === 0 && biased > 1;
  const lowest = 4 * c - 2 + (isLowerCloser ? 1 : 0);
  const k = (q * 1262611 - (isLowerCloser ? 524031 : 0)) >> 22;
  const h = <u64>(q + ((-k * 1741647) >> 19) + 1);
  const power = powers + <usize>(-k - FLOAT_POWER_LEAST) * 16;
  const high = load<u64>(power);
  const low = load<u64>(power, 8);
  const least = scaled(high, low, lowest << h) + (isEven ? 0 : 1);
  const value = scaled(high, low, (4 * c) << h);
  const most = scaled(high, low, (4 * c + 2) << h) - (isEven ? 0 : 1);
  const s = value >> 2;
  if (s >= 10) {
    const tenth = s / 10;
    const isDownInside = least <= 40 * tenth;
    const isUpInside = 40 * tenth + 40 <= most;
    if (isDownInside !== isUpInside) {
      digits = tenth + (isUpInside ? 1 : 0);
      exponent = k + 1;
      return;
    }
  }
  exponent = k;
  const isDownInside = least <= 4 * s;
  const isUpInside = 4 * s + 4 <= most;
  if (isDownInside !== isUpInside) {
    digits = s + (isUpInside ? 1 : 0);
    return;
  }
  const middle = 4 * s + 2;
  const roundsUp = value > middle || (value === middle && (s & 1) !== 0);
  digits = s + (roundsUp ? 1 : 0);
}

/** Buffer for the digits of one number. */
const text: usize = memory.data(32);

/**
 * Writes `digits` to `text` without trailing zeros, which are added to `exponent`. Returns their
 * number.
 */
@inline
function writeText(): u32 {
  const BILLION: u64 = 1000000000;
  let count: u32;
  if (digits < BILLION) {
    count = digitCount(<u32>digits);
    writePadded(text, <u32>digits, count);
  } else {
    const high = <u32>(digits / BILLION);
    count = digitCount(high);
    writePadded(text, high, count);
    writePadded(text + <usize>count, <u32>(digits - <u64>high * BILLION), 9);
    count += 9;
  }
  while (count > 1 && load<u8>(text + <usize>(count - 1)) === ZERO) {
    count--;
    exponent++;
  }
  return count;
}

@inline
function copyText(at: usize, from: u32, count: u32): usize {
  memory.copy(at, text + <usize>from, <usize>count);
  return at + <usize>count;
}

/**
 * Writes a finite double as a JSON number: decimal for 1e-6 <= |x| < 1e21, otherwise with an
 * exponent. Minus zero is `-0`. At most 26 bytes.
 */
export function writeFloat(at: usize, value: f64): usize {
  const bits = reinterpret<u64>(value);
  if (bits >> 63 !== 0) {
    store<u8>(at++, MINUS);
  }
  const positive = bits & 0x7fffffffffffffff;
  if (positive === 0) {
    store<u8>(at, ZERO);
    return at + 1;
  }
  toDecimal(positive);
  const count = writeText();
  // Position of the point, from the first digit.
  const point = <i32>count + exponent;
  if (exponent >= 0 && point <= 21) {
    at = copyText(at, 0, count);
    memory.fill(at, ZERO, <usize>exponent);
    return at + <usize>exponent;
  }
  if (point > 0 && point <= 21) {
    at = copyText(at, 0, <u32>point);
    store<u8>(at++, POINT);
    return copyText(at, <u32>point, count - <u32>point);
  }
  if (point <= 0 && point > -6) {
    store<u8>(at++, ZERO);
    store<u8>(at++, POINT);
    memory.fill(at, ZERO, <usize>-point);
    return copyText(at + <usize>-point, 0, count);
  }
  at = copyText(at, 0, 1);
  if (count > 1) {
    store<u8>(at++, POINT);
    at = copyText(at, 1, count - 1);
  }
  store<u8>(at++, 101);
  const power = point - 1;
  store<u8>(at++, power < 0 ? MINUS : 43);
  const distance = <u32>(power < 0 ? -power : power);
  return writePadded(at, distance, digitCount(distance));
}
