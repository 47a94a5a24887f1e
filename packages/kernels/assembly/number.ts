// Numbers of field values: `[-]digits[.digits]` and `[-]digitsi` with at most 19 digits. Everything else is left to
// the slow path. Floats are rounded correctly: division where both sides are exact, otherwise the product with a
// 128-bit power of ten (Lemire, "Number Parsing at a Gigabyte per Second", 2021).
import { TYPE_FLOAT, TYPE_INTEGER } from './table';

export let numberType: u32 = 0;
export let numberBits: u64 = 0;

const exactPowers: usize = memory.data<f64>([
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
  1e19,
]);
// 10^-n for n = 0..19 as 128-bit fractions, high half first; filled by the loader, see src/decimal-powers.ts.
const POWERS = 20;
const powers: usize = memory.data(20 * 16, 16);

export function decimalPowers(): usize {
  return powers;
}

@inline
function highProduct(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const middle = aHigh * bLow + ((aLow * bLow) >> 32);
  const cross = (middle & 0xffffffff) + aLow * bHigh;
  return aHigh * bHigh + (middle >> 32) + (cross >> 32);
}

/** `digits` / 10^`places` for digits above 2^53, rounded to nearest, ties to even. Bits of the double. */
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
  // floor(log2(10^-places)) + 63 + 1023, by the usual fixed-point constant.
  let exponent = <i64>((-217706 * <i32>places) >> 16) + 63 + <i64>upper - <i64>leading + 1023;
  if (low <= 1 && places <= 4 && (mantissa & 3) === 1 && mantissa << shift === high) {
    // Exactly half way between two doubles, and the even one is below.
    mantissa &= ~1;
  }
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  if (mantissa >= <u64>1 << 53) {
    mantissa = <u64>1 << 52;
    exponent++;
  }
  return (mantissa & ((<u64>1 << 52) - 1)) | (<u64>exponent << 52);
}

/** Reads a number at `p` into `numberType` and `numberBits`. Returns where it ends, 0 when the slow path must look. */
@inline
export function scanNumber(start: usize): usize {
  let p = start;
  const isNegative = load<u8>(p) === 45;
  if (isNegative) p++;
  const first = p;
  let digits: u64 = 0;
  let byte = <u32>load<u8>(p);
  while (byte - 48 <= 9) {
    digits = digits * 10 + <u64>(byte - 48);
    byte = <u32>load<u8>(++p);
  }
  let count = p - first;
  if (byte === 105) {
    // 18 digits can not overflow.
    if (count === 0 || count > 18) return 0;
    numberType = TYPE_INTEGER;
    numberBits = isNegative ? -digits : digits;
    return p + 1;
  }
  let places: u32 = 0;
  if (byte === 46) {
    const fraction = ++p;
    byte = <u32>load<u8>(p);
    while (byte - 48 <= 9) {
      digits = digits * 10 + <u64>(byte - 48);
      byte = <u32>load<u8>(++p);
    }
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

/** Whether all eight bytes are digits. */
@inline
export function areDigits(word: u64): bool {
  return (
    ((word & 0xf0f0f0f0f0f0f0f0) |
      (((word + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) >> 4)) ===
    0x3333333333333333
  );
}

/** Value of eight digits, the first one in the lowest byte. */
@inline
export function eightDigits(word: u64): u64 {
  word -= 0x3030303030303030;
  word = word * 10 + (word >> 8);
  const mask: u64 = 0x000000ff000000ff;
  return (
    (((word & mask) * 0x000f424000000064) + (((word >> 16) & mask) * 0x0000271000000001)) >> 32
  );
}
