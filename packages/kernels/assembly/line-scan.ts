// The fast path of line protocol: accepts lines that are certainly right and leaves all others, errors among them, to
// the slow path, which parses the line again. So nothing here knows an error text.
import { areDigits, eightDigits, numberBits, numberType, scanNumber } from './number';
import { addCached, findCached, findSeries, hashKey, NO_SERIES, seriesMeasurement } from './series';
import { finishStage, stagedMeasurement, stageField, stageKey, stageSeries, stageText } from './stage';
import {
  fieldName,
  fieldNameLength,
  fieldOf,
  measurementOf,
  sameBytes,
} from './symbols';
import { TYPE_BOOLEAN, TYPE_STRING } from './table';
import { allocateRun, freeRun, scratch } from './memory';

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
  return body;
}

export function setTimes(unit: i64, now: i64): void {
  unitNanos = unit;
  unitsMax = 9223372036854775806 / unit;
  defaultTime = now;
}

// Measurement -> for each of the first 64 places of a line the field that was there last: name, length, number.
const LAYOUT_PLACES: u32 = 64;
const LAYOUT_BYTES: usize = 64 * 12;
let layouts: usize = 0;
let layoutCapacity: u32 = 0;
let layoutAt: usize = 0;
let layoutEnd: usize = 0;

function layoutOf(measurement: u32): usize {
  if (measurement >= layoutCapacity) {
    let capacity: u32 = layoutCapacity === 0 ? 16384 : layoutCapacity * 2;
    while (capacity <= measurement) capacity <<= 1;
    const address = allocateRun(<usize>capacity * 4);
    if (address === 0) unreachable();
    memory.copy(address, layouts, <usize>layoutCapacity * 4);
    memory.fill(
      address + <usize>layoutCapacity * 4,
      0,
      <usize>(capacity - layoutCapacity) * 4,
    );
    if (layoutCapacity > 0) freeRun(layouts, <usize>layoutCapacity * 4);
    layouts = address;
    layoutCapacity = capacity;
  }
  const entry = layouts + <usize>measurement * 4;
  let layout = <usize>load<u32>(entry);
  if (layout === 0) {
    if (layoutAt + LAYOUT_BYTES > layoutEnd) {
      layoutAt = allocateRun(65536);
      if (layoutAt === 0) unreachable();
      layoutEnd = layoutAt + 65536;
    }
    layout = layoutAt;
    layoutAt += LAYOUT_BYTES;
    memory.fill(layout, 0, LAYOUT_BYTES);
    store<u32>(entry, <u32>layout);
  }
  return layout;
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
    const entry = layout + <usize>place * 12;
    store<u32>(entry, <u32>fieldName(measurement, fieldNumber));
    store<u32>(entry, fieldNameLength(measurement, fieldNumber), 4);
    store<u32>(entry, fieldNumber, 8);
  }
  return p + 1;
}

let fieldNumber: u32 = 0;

/** Reads the string whose opening quote is at `p`; returns the position behind the closing one, 0 for the slow path. */
function scanString(p: usize, field: u32): usize {
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
  if (!stageField(field, TYPE_STRING, <u64>text | (<u64>length << 32))) return 0;
  return p + 1;
}

/** Reads the boolean at `p`; the caller checks what follows. Returns the position behind it, 0 for the slow path. */
function scanBoolean(p: usize, field: u32): usize {
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
  if (!stageField(field, TYPE_BOOLEAN, value)) return 0;
  return p + length;
}

/** Reads the timestamp at `p` and stages the time; returns the position of the line's end, 0 for the slow path. */
@inline
function scanTime(p: usize): usize {
  const isNegative = load<u8>(p) === MINUS;
  if (isNegative) p++;
  const start = p;
  let units: u64 = 0;
  let word = load<u64>(p);
  if (areDigits(word)) {
    units = eightDigits(word);
    p += 8;
    word = load<u64>(p);
    if (areDigits(word)) {
      units = units * 100000000 + eightDigits(word);
      p += 8;
    }
  }
  let byte = <u32>load<u8>(p);
  while (byte - 48 <= 9) {
    units = units * 10 + <u64>(byte - 48);
    byte = <u32>load<u8>(++p);
  }
  const digits = p - start;
  if (digits === 0 || digits > 19 || units > <u64>unitsMax) return 0;
  while (byte === SPACE) byte = <u32>load<u8>(++p);
  if (byte !== NEWLINE) return 0;
  const time = <i64>units * unitNanos;
  finishStage(isNegative ? -time : time);
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

/** Reads the line at `line` and stages its point; returns the position of the line's end, 0 for the slow path. */
export function scanLine(line: usize): usize {
  let p = sectionEnd(line);
  if (p === 0) return 0;
  const length = p - line;
  if (length > SECTION_MAX) return 0;
  const hash = hashKey(line, length);
  const cached = findCached(line, <u32>length, hash);
  let measurement: u32;
  if (cached !== NO_SERIES) {
    measurement = seriesMeasurement(cached);
    stageSeries(cached, measurement);
  } else {
    if (!stageSection(line, length, hash)) return 0;
    measurement = stagedMeasurement;
  }
  const layout = layoutOf(measurement);
  textAt = textBuffer;
  while (load<u8>(p) === SPACE) p++;
  let place: u32 = 0;
  while (true) {
    const entry = layout + <usize>place * 12;
    const nameLength: usize = place < LAYOUT_PLACES ? <usize>load<u32>(entry, 4) : 0;
    if (
      nameLength !== 0 &&
      load<u8>(p + nameLength) === EQUALS &&
      sameBytes(<usize>load<u32>(entry), p, nameLength)
    ) {
      fieldNumber = load<u32>(entry, 8);
      p += nameLength + 1;
    } else {
      p = scanFieldName(p, measurement, place, layout);
      if (p === 0) return 0;
    }
    const field = fieldNumber;
    let byte = <u32>load<u8>(p);
    if (byte - 48 <= 9 || byte === MINUS || byte === 46) {
      p = scanNumber(p);
      if (p === 0 || !stageField(field, numberType, numberBits)) return 0;
    } else {
      p = byte === QUOTE ? scanString(p, field) : scanBoolean(p, field);
      if (p === 0) return 0;
    }
    byte = <u32>load<u8>(p);
    if (byte === COMMA) {
      p++;
      place++;
      continue;
    }
    if (byte === SPACE) break;
    if (byte !== NEWLINE || p > bodyEnd) return 0;
    finishStage(defaultTime);
    return p;
  }
  while (load<u8>(p) === SPACE) p++;
  if (load<u8>(p) === NEWLINE) {
    finishStage(defaultTime);
    return p;
  }
  return scanTime(p);
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
