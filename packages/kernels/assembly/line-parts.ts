// Finds the parts of lines: ends of keys, strings and lines, booleans, times. All code that reads
// lines in linear memory uses these functions and number.ts. `@tidemark/line-protocol` defines what
// they mean, and parses what they refuse: the slow path.
import { bodyEnd, defaultTime, unitNanos, unitsMax } from './body';
import { appendDigits, digitsEnd } from './number';

const NEWLINE: u32 = 10;
const SPACE: u32 = 32;
const QUOTE: u32 = 34;
const COMMA: u32 = 44;
const MINUS: u32 = 45;
const EQUALS: u32 = 61;
const BACKSLASH: u32 = 92;

/** Position of the first space in the line without a backslash before it; 0 for the slow path. */
@inline
export function sectionEnd(p: usize): usize {
  const spaces = i8x16.splat(<i8>SPACE);
  const newlines = i8x16.splat(<i8>NEWLINE);
  const backslashes = i8x16.splat(<i8>BACKSLASH);
  while (true) {
    const bytes = v128.load(p);
    const mask = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, spaces), i8x16.eq(bytes, newlines)),
        i8x16.eq(bytes, backslashes),
      ),
    );
    if (mask === 0) {
      p += 16;
      continue;
    }
    p += <usize>ctz(mask);
    const byte = <u32>load<u8>(p);
    if (byte === SPACE) return p;
    if (byte === NEWLINE) return 0;
    const next = <u32>load<u8>(p + 1);
    // After two backslashes, a space ends the section, but not for the line splitter.
    if (next === BACKSLASH || next === NEWLINE) return 0;
    p += 2;
  }
}

/** Whether the string that `quotedEnd` passed has backslashes. */
export let hasEscapes: bool = false;

/** Position of the quote that ends the string beginning at `quote`; 0 for the slow path. */
export function quotedEnd(quote: usize): usize {
  hasEscapes = false;
  const quotes = i8x16.splat(<i8>QUOTE);
  const backslashes = i8x16.splat(<i8>BACKSLASH);
  let p = quote + 1;
  while (true) {
    const bytes = v128.load(p);
    const mask = i8x16.bitmask(v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, backslashes)));
    if (mask === 0) {
      p += 16;
      if (p >= bodyEnd) return 0;
      continue;
    }
    p += <usize>ctz(mask);
    // At the end of the body, splitting and parsing treat backslashes differently.
    if (p >= bodyEnd) return 0;
    if (load<u8>(p) === QUOTE) return p;
    if (p + 3 >= bodyEnd) return 0;
    hasEscapes = true;
    p += 2;
  }
}

/** Result of `scanBoolean`. */
export let booleanBits: u64 = 0;

/**
 * Reads the boolean at `p`. Returns its end, or 0 for the slow path. The caller checks what
 * follows.
 */
export function scanBoolean(p: usize): usize {
  const word = load<u32>(p);
  const first = word & 0xff;
  const second = (word >>> 8) & 0xff;
  let value: u64;
  if (first === 116 || first === 84) value = 1;
  else if (first === 102 || first === 70) value = 0;
  else return 0;
  let length: usize = 1;
  if (second !== COMMA && second !== SPACE && second !== NEWLINE) {
    if (word === 0x65757274 || word === 0x65757254 || word === 0x45555254) length = 4;
    else if ((word === 0x736c6166 || word === 0x736c6146) && load<u8>(p, 4) === 101) length = 5;
    else if (word === 0x534c4146 && load<u8>(p, 4) === 69) length = 5;
    else return 0;
  }
  booleanBits = value;
  return p + length;
}

/** The time of the line that `scanLineEnd` read. */
export let lineTime: i64 = 0;

/**
 * Reads what follows the fields, which end at `p`. Returns the end of the line, or 0 for the slow
 * path.
 */
@inline
export function scanLineEnd(p: usize): usize {
  let byte = <u32>load<u8>(p);
  if (byte === SPACE) {
    while (byte === SPACE) byte = <u32>load<u8>(++p);
    if (byte !== NEWLINE) return scanTime(p);
  } else if (byte !== NEWLINE || p > bodyEnd) return 0;
  lineTime = defaultTime;
  return p;
}

@inline
function scanTime(p: usize): usize {
  const isNegative = load<u8>(p) === MINUS;
  if (isNegative) p++;
  const start = p;
  const units = appendDigits(0, p);
  p = digitsEnd;
  const digits = p - start;
  if (digits === 0 || digits > 19 || units > unitsMax) return 0;
  while (load<u8>(p) === SPACE) p++;
  if (load<u8>(p) !== NEWLINE) return 0;
  const time = <i64>units * unitNanos;
  lineTime = isNegative ? -time : time;
  return p;
}

/**
 * The end of the line as the slow path splits lines: quotes and backslashes can protect a newline.
 */
export function lineEnd(line: usize): usize {
  let isInFields = false;
  let isQuoted = false;
  let depth = 0;
  for (let p = line; p < bodyEnd; p++) {
    const byte = <u32>load<u8>(p);
    if (byte === BACKSLASH && p + 2 < bodyEnd) p++;
    else if (byte === NEWLINE && !isQuoted) return p;
    else if (byte === SPACE) isInFields = true;
    else if (!isInFields) continue;
    else if (byte === QUOTE) {
      if (depth > 0) isQuoted = !isQuoted;
    } else if (isQuoted) continue;
    else if (byte === EQUALS) depth++;
    else if (byte === COMMA) depth--;
  }
  return bodyEnd;
}
