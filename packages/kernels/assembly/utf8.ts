// Checks of UTF-8.

/** Whether the bytes are well-formed UTF-8. */
export function isUtf8(p: usize, length: usize): bool {
  const end = p + length;
  while (p < end) {
    const byte = <u32>load<u8>(p++);
    if (byte < 0x80) continue;
    let more: u32;
    let min: u32;
    let code: u32;
    if (byte >>> 5 === 6) {
      more = 1;
      min = 0x80;
      code = byte & 31;
    } else if (byte >>> 4 === 14) {
      more = 2;
      min = 0x800;
      code = byte & 15;
    } else if (byte >>> 3 === 30) {
      more = 3;
      min = 0x10000;
      code = byte & 7;
    } else return false;
    for (; more > 0; more--) {
      if (p >= end) return false;
      const next = <u32>load<u8>(p++);
      if (next >>> 6 !== 2) return false;
      code = (code << 6) | (next & 63);
    }
    if (code < min || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  }
  return true;
}
