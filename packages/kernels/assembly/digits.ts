// Writes whole numbers as decimal text. Writers return the end of the text.

const ZERO: u32 = 48;

/** "00" to "99", one after another. */
const pairs: usize = memory.data(200);
for (let i: u32 = 0; i < 100; i++) {
  store<u8>(pairs + <usize>i * 2, <u8>(ZERO + i / 10));
  store<u8>(pairs + <usize>i * 2, <u8>(ZERO + (i % 10)), 1);
}

/** Writes a value below 10^9. */
@inline
export function digitCount(value: u32): u32 {
  if (value < 10000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4;
  if (value < 1000000) return value < 100000 ? 5 : 6;
  return value < 100000000 ? (value < 10000000 ? 7 : 8) : 9;
}

/** Writes `count` digits, with leading zeros. */
@inline
export function writePadded(at: usize, value: u32, count: u32): usize {
  let place = at + <usize>count;
  while (place >= at + 2) {
    const rest = value / 100;
    place -= 2;
    store<u16>(place, load<u16>(pairs + <usize>(value - rest * 100) * 2));
    value = rest;
  }
  if (place > at) store<u8>(at, <u8>(ZERO + value));
  return at + <usize>count;
}

/** Writes at most 20 digits. */
export function writeUnsigned(at: usize, value: u64): usize {
  const BILLION: u64 = 1000000000;
  if (value < BILLION) return writePadded(at, <u32>value, digitCount(<u32>value));
  const high = value / BILLION;
  const low = <u32>(value - high * BILLION);
  if (high < BILLION) at = writePadded(at, <u32>high, digitCount(<u32>high));
  else {
    const highest = high / BILLION;
    at = writePadded(at, <u32>highest, digitCount(<u32>highest));
    at = writePadded(at, <u32>(high - highest * BILLION), 9);
  }
  return writePadded(at, low, 9);
}

export function writeInteger(at: usize, value: i64): usize {
  if (value >= 0) return writeUnsigned(at, <u64>value);
  store<u8>(at, 45);
  return writeUnsigned(at + 1, 0 - <u64>value);
}
