// Hash functions with which Kafka clients of other languages choose a partition.

/** FNV-1a, 32 bits. */
export function fnv1a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** Murmur2 with the seed of Kafka's own clients; the sign bit is cleared as they do. */
export function murmur2(bytes: Uint8Array): number {
  const m = 0x5bd1e995;
  let hash = (0x9747b28c ^ bytes.length) | 0;
  const whole = bytes.length - (bytes.length % 4);
  for (let i = 0; i < whole; i += 4) {
    let word = littleEndian(bytes, i);
    word = Math.imul(word, m);
    word ^= word >>> 24;
    word = Math.imul(word, m);
    hash = Math.imul(hash, m) ^ word;
  }
  const rest = bytes.length - whole;
  if (rest >= 3) hash ^= (bytes[whole + 2] ?? 0) << 16;
  if (rest >= 2) hash ^= (bytes[whole + 1] ?? 0) << 8;
  if (rest >= 1) {
    hash ^= bytes[whole] ?? 0;
    hash = Math.imul(hash, m);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, m);
  hash ^= hash >>> 15;
  return hash & 0x7fffffff;
}

/** Murmur3, 32 bits, seed 0. */
export function murmur3(bytes: Uint8Array): number {
  let hash = 0;
  const whole = bytes.length - (bytes.length % 4);
  for (let i = 0; i < whole; i += 4) {
    hash ^= mix3(littleEndian(bytes, i));
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  let tail = 0;
  for (let i = bytes.length - 1; i >= whole; i--) tail = (tail << 8) | (bytes[i] ?? 0);
  if (bytes.length > whole) hash ^= mix3(tail);
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function mix3(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

function littleEndian(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at, at + 4);
  return a | (b << 8) | (c << 16) | (d << 24);
}
