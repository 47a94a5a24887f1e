// Prints texts as JSON strings, from bytes to bytes, with the escapes of InfluxDB: HTML's special
// characters and the separators of lines and paragraphs as `\u003c`.

const QUOTE: u8 = 34;
const BACKSLASH: u8 = 92;
/** The first byte of U+2028 and U+2029. */
const SEPARATOR: u8 = 0xe2;

/** Largest size of a printed text of `length` bytes. */
@inline
export function jsonTextBound(length: usize): usize {
  return length * 6 + 2;
}

/** Which of 16 bytes cannot be copied as they are. */
@inline
function specialOf(bytes: v128): i32 {
  let special = i8x16.lt_u(bytes, i8x16.splat(0x20));
  special = v128.or(special, i8x16.eq(bytes, i8x16.splat(QUOTE)));
  special = v128.or(special, i8x16.eq(bytes, i8x16.splat(BACKSLASH)));
  special = v128.or(special, i8x16.eq(bytes, i8x16.splat(38)));
  special = v128.or(special, i8x16.eq(bytes, i8x16.splat(60)));
  special = v128.or(special, i8x16.eq(bytes, i8x16.splat(62)));
  return i8x16.bitmask(v128.or(special, i8x16.eq(bytes, i8x16.splat(SEPARATOR))));
}

@inline
function isSpecial(byte: u8): bool {
  return (
    byte < 0x20 ||
    byte === QUOTE ||
    byte === BACKSLASH ||
    byte === 38 ||
    byte === 60 ||
    byte === 62 ||
    byte === SEPARATOR
  );
}

@inline
function hexDigit(value: u32): u8 {
  return <u8>(value < 10 ? 48 + value : 87 + value);
}

/** `\u` with four digits. */
function writeUnit(at: usize, unit: u32): usize {
  store<u8>(at, BACKSLASH);
  store<u8>(at, 117, 1);
  store<u8>(at, hexDigit(unit >> 12), 2);
  store<u8>(at, hexDigit((unit >> 8) & 15), 3);
  store<u8>(at, hexDigit((unit >> 4) & 15), 4);
  store<u8>(at, hexDigit(unit & 15), 5);
  return at + 6;
}

/** The letter of a short escape; 0 when there is none. */
@inline
function letterOf(byte: u8): u8 {
  switch (byte) {
    case 8:
      return 98;
    case 9:
      return 116;
    case 10:
      return 110;
    case 12:
      return 102;
    case 13:
      return 114;
    case QUOTE:
    case BACKSLASH:
      return byte;
    default:
      return 0;
  }
}

/** Where the text goes on after `writeSpecial`. */
let following: usize = 0;

/** Writes the character at `from`, whose first byte is special. */
function writeSpecial(at: usize, from: usize, end: usize): usize {
  const byte = load<u8>(from);
  following = from + 1;
  if (byte === SEPARATOR) {
    if (from + 2 < end && load<u8>(from, 1) === 0x80 && (load<u8>(from, 2) & 0xfe) === 0xa8) {
      following = from + 3;
      return writeUnit(at, 0x2028 | (load<u8>(from, 2) & 1));
    }
    store<u8>(at, byte);
    return at + 1;
  }
  const letter = letterOf(byte);
  if (letter === 0) return writeUnit(at, byte);
  store<u8>(at, BACKSLASH);
  store<u8>(at, letter, 1);
  return at + 2;
}

/** Writes a text of UTF-8 to `at`, which has room for `jsonTextBound`. Returns the end. */
export function writeJsonText(at: usize, from: usize, length: usize): usize {
  const end = from + length;
  store<u8>(at++, QUOTE);
  while (from + 16 <= end) {
    const bytes = v128.load(from);
    v128.store(at, bytes);
    const special = specialOf(bytes);
    if (special === 0) {
      from += 16;
      at += 16;
      continue;
    }
    const plain = <usize>ctz(special);
    at = writeSpecial(at + plain, from + plain, end);
    from = following;
  }
  while (from < end) {
    const byte = load<u8>(from);
    if (isSpecial(byte)) {
      at = writeSpecial(at, from, end);
      from = following;
      continue;
    }
    store<u8>(at++, byte);
    from++;
  }
  store<u8>(at, QUOTE);
  return at + 1;
}
