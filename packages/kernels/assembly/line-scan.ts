// The fast path of line protocol: accepts lines that are certainly right and leaves all others, errors among them, to
// the slow path, which parses the line again. So nothing here knows an error text.
import { LAYOUT_PLACES, layoutOf, Place, placeAt, setCount, setPlace } from './layouts';
import { scratch } from './memory';
import { appendDigits, digitsEnd, numberBits, numberType, scanNumber } from './number';
import {
  addCached,
  findCached,
  findSeries,
  guessedLength,
  guessSeries,
  hashKey,
  NO_SERIES,
  seriesMeasurement,
} from './series';
import { finishStage, stagedMeasurement, stageField, stageKey, stageSeries, stageText } from './stage';
import {
  fieldName,
  fieldNameLength,
  fieldOf,
  measurementOf,
  sameBytes,
} from './symbols';
import { TYPE_BOOLEAN, TYPE_STRING } from './table';

const NEWLINE: u32 = 10;
const SPACE: u32 = 32;
const QUOTE: u32 = 34;
const COMMA: u32 = 44;
const MINUS: u32 = 45;
const EQUALS: u32 = 61;
const BACKSLASH: u32 = 92;

// Together below the 65,535 bytes that key, four and field name may have; the slow path checks the exact sum.
const SECTION_MAX: usize = 60000;
const FIELD_NAME_MAX: usize = 4096;
const TAGS_MAX: i32 = 256;

const SCRATCH_BODY = 10;
const SCRATCH_TEXT = 11;

let body: usize = 0;
export let bodyEnd: usize = 0;
let unitNanos: i64 = 1;
let unitsMax: i64 = 0;
let defaultTime: i64 = 0;
// Strings without their escapes, for the line that is being read.
let textBuffer: usize = 0;
let textAt: usize = 0;

/** Room for a body of `bytes`; 0 when memory is exhausted. */
export function openBody(bytes: usize): usize {
  body = scratch(SCRATCH_BODY, bytes + 64);
  if (body === 0) return 0;
  bodyEnd = body + bytes;
  // Line ends behind the end stop every loop that looks for one.
  memory.fill(bodyEnd, <u8>NEWLINE, 64);
  textBuffer = 0;
  sectionLine = 0;
  return body;
}

export function setTimes(unit: i64, now: i64): void {
  unitNanos = unit;
  unitsMax = 9223372036854775806 / unit;
  defaultTime = now;
}

/** Whether the bytes are well-formed UTF-8. */
function isUtf8(p: usize, length: usize): bool {
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

// Tags of the section that is being made canonical: start u32, length u32, length of the key u32.
const tags: usize = memory.data(256 * 12, 16);
const keyBuffer: usize = memory.data(65536 + 64, 16);
let tagCount: i32 = 0;

@inline
function tagStart(index: i32): usize {
  return <usize>load<u32>(tags + <usize>index * 12);
}

/** Order of two tag keys by their bytes. */
function compareKeys(a: i32, b: i32): i32 {
  const aStart = tagStart(a);
  const bStart = tagStart(b);
  const aLength = load<u32>(tags + <usize>a * 12, 8);
  const bLength = load<u32>(tags + <usize>b * 12, 8);
  const length = <usize>min<u32>(aLength, bLength);
  for (let i: usize = 0; i < length; i++) {
    const difference = <i32>load<u8>(aStart + i) - <i32>load<u8>(bStart + i);
    if (difference !== 0) return difference;
  }
  return <i32>aLength - <i32>bLength;
}

function swapTags(a: i32, b: i32): void {
  const x = tags + <usize>a * 12;
  const y = tags + <usize>b * 12;
  const low = load<u64>(x);
  const high = load<u32>(x, 8);
  memory.copy(x, y, 12);
  store<u64>(y, low);
  store<u32>(y, high, 8);
}

/** Sorts the tags. 1 = they were in order, 0 = they were not, -1 = one occurs twice. */
function sortTags(): i32 {
  let wasSorted = 1;
  for (let i = 1; i < tagCount; i++) {
    for (let k = i; k > 0; k--) {
      const order = compareKeys(k - 1, k);
      if (order === 0) return -1;
      if (order < 0) break;
      swapTags(k - 1, k);
      wasSorted = 0;
    }
  }
  return wasSorted;
}

/** Splits `section` into measurement and tags; returns the measurement's length, 0 for the slow path. */
function splitSection(section: usize, length: usize): usize {
  const end = section + length;
  let p = section;
  let highBits: u32 = 0;
  if (load<u8>(p) === COMMA) return 0;
  for (; p < end; p++) {
    const byte = <u32>load<u8>(p);
    highBits |= byte;
    if (byte === COMMA) break;
    if (byte === BACKSLASH) {
      // `\=` loses its backslash in a measurement, so the text would not be canonical.
      if (load<u8>(p + 1) === EQUALS) return 0;
      p++;
    }
  }
  const measurementLength = p - section;
  tagCount = 0;
  let hasEscapedKey = false;
  while (p < end) {
    const start = ++p;
    while (p < end) {
      const byte = <u32>load<u8>(p);
      highBits |= byte;
      if (byte === EQUALS) break;
      if (byte === COMMA) return 0;
      if (byte === BACKSLASH) {
        hasEscapedKey = true;
        p++;
      }
      p++;
    }
    const keyLength = p - start;
    const valueStart = ++p;
    if (keyLength === 0 || p >= end) return 0;
    while (p < end) {
      const byte = <u32>load<u8>(p);
      highBits |= byte;
      if (byte === COMMA) break;
      if (byte === EQUALS) return 0;
      p += byte === BACKSLASH ? 2 : 1;
    }
    if (p === valueStart || p > end || tagCount === TAGS_MAX) return 0;
    // A tag named time refuses the point, with a text.
    if (keyLength === 4 && load<u32>(start) === 0x656d6974) return 0;
    const entry = tags + <usize>tagCount * 12;
    store<u32>(entry, <u32>start);
    store<u32>(entry, <u32>(p - start), 4);
    store<u32>(entry, <u32>keyLength, 8);
    tagCount++;
  }
  // Canonical order is that of unescaped keys.
  if (hasEscapedKey && tagCount > 1) return 0;
  if (highBits >= 0x80 && !isUtf8(section, length)) return 0;
  return measurementLength;
}

/** Stages the series that a section names. False for the slow path. */
function stageSection(section: usize, length: usize, hash: u32): bool {
  const measurementLength = splitSection(section, length);
  if (measurementLength === 0) return false;
  const order = sortTags();
  if (order < 0) return false;
  let key = section;
  let keyHash = hash;
  if (order === 0) {
    memory.copy(keyBuffer, section, measurementLength);
    let out = keyBuffer + measurementLength;
    for (let i = 0; i < tagCount; i++) {
      store<u8>(out++, <u8>COMMA);
      const bytes = <usize>load<u32>(tags + <usize>i * 12, 4);
      memory.copy(out, tagStart(i), bytes);
      out += bytes;
    }
    key = keyBuffer;
    keyHash = hashKey(key, length);
  }
  const measurement = measurementOf(section, <u32>measurementLength);
  const series = findSeries(key, <u32>length, keyHash);
  stageSeries(series, measurement);
  stageKey(key, <u32>length, keyHash);
  if (series === NO_SERIES) stageText(section, <u32>length, hash);
  else addCached(section, <u32>length, hash, series);
  return true;
}

/** Reads the field name at `p`, which ends with `=`; returns the position behind that, 0 for the slow path. */
function scanFieldName(p: usize, measurement: u32, place: u32, layout: usize): usize {
  const start = p;
  let highBits: u32 = 0;
  while (true) {
    const byte = <u32>load<u8>(p);
    if (byte === EQUALS) break;
    if (byte <= SPACE || byte === COMMA || byte === BACKSLASH || byte === QUOTE) return 0;
    highBits |= byte;
    p++;
  }
  const length = p - start;
  if (length === 0 || length > FIELD_NAME_MAX) return 0;
  // A field named time is left out, or refuses the point when it is the only one.
  if (length === 4 && load<u32>(start) === 0x656d6974) return 0;
  if (highBits >= 0x80 && !isUtf8(start, length)) return 0;
  fieldNumber = fieldOf(measurement, start, <u32>length);
  if (place < LAYOUT_PLACES) {
    const name = fieldName(measurement, fieldNumber);
    setPlace(layout, place, name, fieldNameLength(measurement, fieldNumber), fieldNumber);
  }
  return p + 1;
}

let fieldNumber: u32 = 0;

/** The value that `scanString` (address and length) or `scanBoolean` read. */
export let valueBits: u64 = 0;

/** Reads the string whose opening quote is at `p`; returns the position behind the closing one, 0 for the slow path. */
export function scanString(p: usize): usize {
  const start = ++p;
  let hasEscapes = false;
  const quotes = i8x16.splat(<i8>QUOTE);
  const backslashes = i8x16.splat(<i8>BACKSLASH);
  while (true) {
    const bytes = v128.load(p);
    const mask = i8x16.bitmask(v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, backslashes)));
    if (mask === 0) {
      p += 16;
      if (p >= bodyEnd) return 0;
      continue;
    }
    p += <usize>ctz(mask);
    // Near the end of the body the rules of backslashes differ between splitting and parsing.
    if (p >= bodyEnd) return 0;
    if (load<u8>(p) === QUOTE) break;
    if (p + 3 >= bodyEnd) return 0;
    hasEscapes = true;
    p += 2;
  }
  let text = start;
  let length = p - start;
  if (hasEscapes) {
    if (textBuffer === 0) {
      textBuffer = scratch(SCRATCH_TEXT, bodyEnd - body);
      if (textBuffer === 0) return 0;
      textAt = textBuffer;
    }
    text = textAt;
    for (let q = start; q < p; q++) {
      const byte = <u32>load<u8>(q);
      if (byte === BACKSLASH) {
        const next = <u32>load<u8>(q + 1);
        if (next === QUOTE || next === BACKSLASH) {
          store<u8>(textAt++, <u8>next);
          q++;
          continue;
        }
      }
      store<u8>(textAt++, <u8>byte);
    }
    length = textAt - text;
  }
  valueBits = <u64>text | (<u64>length << 32);
  return p + 1;
}

/** Reads the boolean at `p`; the caller checks what follows. Returns the position behind it, 0 for the slow path. */
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
  valueBits = value;
  return p + length;
}

/** Time of the line that `scanLineEnd` read. */
export let lineTime: i64 = 0;

/** Reads what follows the fields, whose end is `p`; returns the position of the line's end, 0 for the slow path. */
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
  if (digits === 0 || digits > 19 || units > <u64>unitsMax) return 0;
  while (load<u8>(p) === SPACE) p++;
  if (load<u8>(p) !== NEWLINE) return 0;
  const time = <i64>units * unitNanos;
  lineTime = isNegative ? -time : time;
  return p;
}

/** Position of the first space of the line that no backslash precedes; 0 for the slow path. */
@inline
function sectionEnd(p: usize): usize {
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
    // After two backslashes a space ends the section but not for the line splitter.
    if (next === BACKSLASH || next === NEWLINE) return 0;
    p += 2;
  }
}

// The line that was looked up last: its section's length (0 when it has none that is plain) and series. The hash is that
// of a section whose series is not known.
let sectionLine: usize = 0;
export let sectionLength: usize = 0;
let sectionSeries: u32 = NO_SERIES;
let sectionHash: u32 = 0;

/** The series of a line by its text; NO_SERIES when it is not in the cache. Asking again for a line costs nothing. */
@inline
export function lineSeries(line: usize): u32 {
  if (sectionLine !== line) lookUp(line);
  return sectionSeries;
}

function lookUp(line: usize): void {
  sectionLine = line;
  sectionSeries = guessSeries(line, bodyEnd);
  if (sectionSeries !== NO_SERIES) {
    sectionLength = guessedLength;
    return;
  }
  const end = sectionEnd(line);
  sectionLength = end === 0 || end - line > SECTION_MAX ? 0 : end - line;
  if (sectionLength === 0) return;
  sectionHash = hashKey(line, sectionLength);
  sectionSeries = findCached(line, <u32>sectionLength, sectionHash);
}

/** A line begins whose strings are not those of the line before. */
@inline
export function beginLine(): void {
  textAt = textBuffer;
}

/** Reads the line at `line` and stages its point; returns the position of the line's end, 0 for the slow path. */
export function scanLine(line: usize): usize {
  const series = lineSeries(line);
  const length = sectionLength;
  if (length === 0) return 0;
  let measurement: u32;
  if (series !== NO_SERIES) {
    measurement = seriesMeasurement(series);
    stageSeries(series, measurement);
  } else {
    if (!stageSection(line, length, sectionHash)) return 0;
    measurement = stagedMeasurement;
  }
  const layout = layoutOf(measurement);
  beginLine();
  let p = line + length;
  while (load<u8>(p) === SPACE) p++;
  let index: u32 = 0;
  while (true) {
    const place = changetype<Place>(placeAt(layout, index));
    const nameLength: usize = index < LAYOUT_PLACES ? <usize>place.nameLength : 0;
    if (
      nameLength !== 0 &&
      p + nameLength < bodyEnd &&
      load<u8>(p + nameLength) === EQUALS &&
      sameBytes(place.name, p, nameLength)
    ) {
      fieldNumber = place.field;
      p += nameLength + 1;
    } else {
      p = scanFieldName(p, measurement, index, layout);
      if (p === 0) return 0;
    }
    p = stageValue(p, fieldNumber);
    if (p === 0) return 0;
    index++;
    if (load<u8>(p) !== COMMA) break;
    p++;
  }
  const end = scanLineEnd(p);
  if (end === 0) return 0;
  setCount(layout, index);
  finishStage(lineTime);
  return end;
}

/** Reads the value at `p`; returns the position behind it, 0 for the slow path. */
@inline
function stageValue(p: usize, field: u32): usize {
  const byte = <u32>load<u8>(p);
  if (byte - 48 <= 9 || byte === MINUS || byte === 46) {
    p = scanNumber(p);
    return p === 0 || !stageField(field, numberType, numberBits) ? 0 : p;
  }
  const isString = byte === QUOTE;
  p = isString ? scanString(p) : scanBoolean(p);
  return p === 0 || !stageField(field, isString ? TYPE_STRING : TYPE_BOOLEAN, valueBits) ? 0 : p;
}

/** End of the line at `line` as the slow path sees it: quotes and backslashes can keep a newline inside. */
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
