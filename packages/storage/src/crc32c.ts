// CRC-32C (Castagnoli), the checksum of every record, block and footer.

const TABLE = buildTables();

/** Continues `seed` (0 to begin with) over `bytes`; the result is an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array, seed = 0): number {
  let crc = ~seed;
  let i = 0;
  const end = bytes.length - 7;
  // Slicing by eight: one table look-up per byte, but eight of them independent of each other.
  for (; i < end; i += 8) {
    const low =
      crc ^ (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
    crc =
      TABLE[1792 + (low & 0xff)]! ^
      TABLE[1536 + ((low >>> 8) & 0xff)]! ^
      TABLE[1280 + ((low >>> 16) & 0xff)]! ^
      TABLE[1024 + (low >>> 24)]! ^
      TABLE[768 + bytes[i + 4]!]! ^
      TABLE[512 + bytes[i + 5]!]! ^
      TABLE[256 + bytes[i + 6]!]! ^
      TABLE[bytes[i + 7]!]!;
  }
  for (; i < bytes.length; i++) crc = TABLE[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

function buildTables(): Int32Array {
  const tables = new Int32Array(8 * 256);
  for (let i = 0; i < 256; i++) {
    let crc = i;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    tables[i] = crc;
  }
  for (let i = 256; i < 8 * 256; i++) {
    const previous = tables[i - 256]!;
    tables[i] = tables[previous & 0xff]! ^ (previous >>> 8);
  }
  return tables;
}
