// CRC-32C (Castagnoli), sixteen bytes per step with a table for each: the look-ups of a step do not
// wait for each other.
const TABLES: usize = 16;
const tables: usize = memory.data(16 * 1024, 16);
let isReady: bool = false;

function prepare(): void {
  for (let i: u32 = 0; i < 256; i++) {
    let value = i;
    for (let k = 0; k < 8; k++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
    store<u32>(tables + <usize>i * 4, value);
  }
  for (let i: u32 = 0; i < 256; i++) {
    let value = load<u32>(tables + <usize>i * 4);
    for (let k: usize = 1; k < TABLES; k++) {
      value = load<u32>(tables + <usize>(value & 255) * 4) ^ (value >>> 8);
      store<u32>(tables + k * 1024 + <usize>i * 4, value);
    }
  }
  isReady = true;
}

@inline
function entry(table: usize, index: u32): u32 {
  return load<u32>(tables + table * 1024 + <usize>(index & 255) * 4);
}

/** Four bytes of a step, of which the last one is followed by `behind` more. */
@inline
function entries(behind: usize, word: u32): u32 {
  return (
    entry(behind + 3, word) ^
    entry(behind + 2, word >>> 8) ^
    entry(behind + 1, word >>> 16) ^
    entry(behind, word >>> 24)
  );
}

/** Continues `crc` (0 at the start) over `bytes` at `address`. */
export function crc32c(address: usize, bytes: usize, crc: u32): u32 {
  if (!isReady) prepare();
  let value = ~crc;
  const end = address + bytes;
  while (address + TABLES <= end) {
    const others =
      entries(8, load<u32>(address, 4)) ^
      entries(4, load<u32>(address, 8)) ^
      entries(0, load<u32>(address, 12));
    value = entries(12, load<u32>(address) ^ value) ^ others;
    address += TABLES;
  }
  while (address < end) {
    value = entry(0, value ^ <u32>load<u8>(address++)) ^ (value >>> 8);
  }
  return ~value;
}
