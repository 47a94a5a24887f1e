// Reads numbers of field values: `[-]digits[.digits]` and `[-]digitsi` with at most 19 digits;
// others are left to the slow path. Floats are rounded correctly: by division if both sides are
// exact, otherwise by the product with a 128-bit power of ten (Lemire, "Number Parsing at a
// Gigabyte per Second", 2021).
import { DECIMAL_POWERS, TYPE_FLOAT, TYPE_INTEGER } from './abi.gen';

export let numberType: u32 = 0;
export let numberBits: u64 = 0;

const exactPowers: usize = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18, 1e19,
]);
// 10^-n for n = 0..19 as 128-bit fractions, upper half first. The loader fills the table
// (src/decimal-powers.ts).
const powers: usize = memory.data(DECIMAL_POWERS * 16, 16);

export function decimalPowers(): usize {
  return powers;
}

/** The upper half of the 128-bit product. */
@inline
export function highProduct(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const middle = aHigh * bLow + ((aLow * bLow) >> 32);
  const cross = (middle & 0xffffffff) + aLow * bHigh;
  return aHigh * bHigh + (middle >> 32) + (cross >> 32);
}

/**
 * The bits of the double nearest to `digits` / 10^`places`, for digits above 2^53. Ties go to the
 * even one.
 */
function divideByPower(digits: u64, places: u32): u64 {
  const leading = clz(digits);
  const normal = digits << leading;
  const power = powers + <usize>places * 16;
  let high = highProduct(normal, load<u64>(power));
  let low = normal * load<u64>(power);
  if ((high & 0x1ff) === 0x1ff) {
    const second = highProduct(normal, load<u64>(power, 8));
    low += second;
    if (second > low) high++;
  }
  const upper = high >> 63;
  const shift = upper + 9;
  let mantissa = high >> shift;
  // floor(log2(10^-places)) + 63 + 1023, in fixed-point arithmetic.
  let exponent = <i64>((-217706 * <i32>places) >> 16) + 63 + <i64>upper - <i64>leading + 1023;
  if (low <= 1 && places <= 4 && (mantissa & 3) === 1 && mantissa << shift === high) {
    // Exactly between two doubles, of which the lower one is even.
    mantissa &= ~1;
  }
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  if (mantissa >= (<u64>1) << 53) {
    mantissa = (<u64>1) << 52;
    exponent++;
  }
  return (mantissa & (((<u64>1) << 52) - 1)) | ((<u64>exponent) << 52);
}

// 10^n for up to eight digits.
const digitPowers: usize = memory.data<u64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
]);

/** How many of the eight bytes are digits, from the lowest byte to the first that is not. */
@inline
export function leadingDigits(word: u64): u32 {
  // 0 to 9 for digits, larger for other bytes. Sums only carry into bytes after the first that is
  // not a digit.
  const values = word ^ 0x3030303030303030;
  const others = ((values + 0x7676767676767676) | values) & 0x8080808080808080;
  return <u32>ctz(others) >>> 3;
}

/** The value of the `count` lowest bytes, which are 1 to 8 digits. */
@inline
export function digitsValue(word: u64, count: u32): u64 {
  // Shifts zeros in as leading digits, which do not change the value.
  let values = (word ^ 0x3030303030303030) << ((<u64>(8 - count)) << 3);
  values = values * 10 + (values >> 8);
  const mask: u64 = 0x000000ff000000ff;
  return (
    ((values & mask) * 0x000f424000000064 + ((values >> 16) & mask) * 0x0000271000000001) >> 32
  );
}

export let digitsEnd: usize = 0;

/** Appends the digits at `p` to `digits`, modulo 2^64. `digitsEnd` is set to their end. */
@inline
export function appendDigits(digits: u64, p: usize): u64 {
  let count: u32 = 8;
  while (count === 8) {
    const word = load<u64>(p);
    count = leadingDigits(word);
    if (count === 0) break;
    digits = digits * load<u64>(digitPowers + ((<usize>count) << 3)) + digitsValue(word, count);
    p += <usize>count;
  }
  digitsEnd = p;
  return digits;
}

/**
 * Reads a number such as `12.3` that ends within one word, whose bytes are `first`. Returns its
 * end, or 0 if it is another number. Removing the point lets all digits be converted at once.
 */
@inline
function scanShortFloat(first: usize, isNegative: bool): usize {
  const word = load<u64>(first);
  const before = leadingDigits(word);
  if (before > 5 || ((word >> ((<u64>before) << 3)) & 0xff) !== 46) return 0;
  const below = ((<u64>1) << ((<u64>before) << 3)) - 1;
  const joined = (word & below) | ((word >> 8) & ~below);
  const count = leadingDigits(joined);
  if (count === 0 || count === 7) return 0;
  const digits = <f64>digitsValue(joined, count);
  const value = digits / load<f64>(exactPowers + ((<usize>count - <usize>before) << 3));
  numberType = TYPE_FLOAT;
  numberBits = reinterpret<u64>(isNegative ? -value : value);
  return first + <usize>count + 1;
}

/**
 * Reads a number at `p` into `numberType` and `numberBits`. Returns its end, or 0 for the slow
 * path. May read up to 7 bytes after the number.
 */
@inline
export function scanNumber(start: usize): usize {
  const isNegative = load<u8>(start) === 45;
  const first = isNegative ? start + 1 : start;
  const end = scanShortFloat(first, isNegative);
  if (end !== 0) return end;
  let digits = appendDigits(0, first);
  let p = digitsEnd;
  let count = p - first;
  const byte = <u32>load<u8>(p);
  if (byte === 105) {
    // 18 digits cannot overflow.
    if (count === 0 || count > 18) return 0;
    numberType = TYPE_INTEGER;
    numberBits = isNegative ? -digits : digits;
    return p + 1;
  }
  let places: u32 = 0;
  if (byte === 46) {
    const fraction = p + 1;
    digits = appendDigits(digits, fraction);
    p = digitsEnd;
    places = <u32>(p - fraction);
    count += <usize>places;
  }
  // 19 digits fit into 64 bits.
  if (count === 0 || count > 19) return 0;
  numberType = TYPE_FLOAT;
  let bits: u64;
  if (places === 0) bits = reinterpret<u64>(<f64>digits);
  else if (digits >> 53 === 0) {
    bits = reinterpret<u64>(<f64>digits / load<f64>(exactPowers + <usize>places * 8));
  } else bits = divideByPower(digits, places);
  numberBits = isNegative ? bits | 0x8000000000000000 : bits;
  return p;
}
