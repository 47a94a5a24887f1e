// CRC-32C (Castagnoli), eight bytes per step with eight tables.
const tables: usize = memory.data(8 * 1024, 16);
let isReady: bool = false;

function prepare(): void {
  for (let i: u32 = 0; i < 256; i++) {
    let value = i;
    for (let k = 0; k < 8; k++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
    store<u32>(tables + <usize>i * 4, value);
  }
  for (let i: u32 = 0; i < 256; i++) {
    let value = load<u32>(tables + <usize>i * 4);
    for (let k: usize = 1; k < 8; k++) {
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

/** Continues `crc` (0 at the start) over `bytes` at `address`. */
export function crc32c(address: usize, bytes: usize, crc: u32): u32 {
  if (!isReady) prepare();
  let value = ~crc;
  const end = address + bytes;
  while (address + 8 <= end) {
    const low = load<u32>(address) ^ value;
    const high = load<u32>(address, 4);
    value =
      entry(7, low) ^
      entry(6, low >>> 8) ^
      entry(5, low >>> 16) ^
      entry(4, low >>> 24) ^
      entry(3, high) ^
      entry(2, high >>> 8) ^
      entry(1, high >>> 16) ^
      entry(0, high >>> 24);
    address += 8;
  }
  while (address < end) {
    value = entry(0, value ^ <u32>load<u8>(address++)) ^ (value >>> 8);
  }
  return ~value;
}
