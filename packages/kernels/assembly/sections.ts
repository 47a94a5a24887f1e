// Splits the section of a line (measurement and tags) and makes it a canonical series key. Sections
// that are not certainly correct are left to the slow path.
import { copyText, firstBits, sameBytes } from './bytes';
import { findSeries, hashKey, NO_SERIES } from './series';
import { addCached, noteSection, noteTag } from './series-guess';
import { stageKey, stageSeries, stageText } from './stage';
import { measurementName, measurementNameLength, measurementOf } from './names';
import { isUtf8 } from './utf8';

const COMMA: u32 = 44;
const EQUALS: u32 = 61;
const BACKSLASH: u32 = 92;

const TAGS_MAX: i32 = 256;

// Tags of the section in progress: start, length, length of the key, number in the text (u32 each).
const TAG_BYTES: usize = 16;
const tags: usize = memory.data(256 * 16, 16);
const keyBuffer: usize = memory.data(65536 + 64, 16);
let tagCount: i32 = 0;

@inline
function tagStart(index: i32): usize {
  return <usize>load<u32>(tags + <usize>index * TAG_BYTES);
}

/** Compares two tag keys bytewise. */
function compareKeys(a: i32, b: i32): i32 {
  const aStart = tagStart(a);
  const bStart = tagStart(b);
  const aLength = load<u32>(tags + <usize>a * TAG_BYTES, 8);
  const bLength = load<u32>(tags + <usize>b * TAG_BYTES, 8);
  const length = <usize>min<u32>(aLength, bLength);
  for (let i: usize = 0; i < length; i++) {
    const difference = <i32>load<u8>(aStart + i) - <i32>load<u8>(bStart + i);
    if (difference !== 0) return difference;
  }
  return <i32>aLength - <i32>bLength;
}

function swapTags(a: i32, b: i32): void {
  const x = tags + <usize>a * TAG_BYTES;
  const y = tags + <usize>b * TAG_BYTES;
  const tag = v128.load(x);
  v128.store(x, v128.load(y));
  v128.store(y, tag);
}

/** Sorts the tags. 1: they were in order, 0: they were not, -1: one occurs twice. */
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

@inline
function addTag(start: usize, length: usize, keyLength: usize): void {
  const entry = tags + <usize>tagCount * TAG_BYTES;
  store<u32>(entry, <u32>start);
  store<u32>(entry, <u32>length, 4);
  store<u32>(entry, <u32>keyLength, 8);
  store<u32>(entry, <u32>tagCount, 12);
  tagCount++;
}

/**
 * Whether the tag whose key is at `start` is named time. Such a point is refused by the slow path.
 */
@inline
function isTime(start: usize, keyLength: usize): bool {
  return keyLength === 4 && load<u32>(start) === 0x656d6974;
}

/**
 * Splits a section of ASCII without backslashes, as most are, at commas and equals signs. Returns
 * the length of the measurement, or 0 if the section needs `splitSection`.
 */
function splitPlain(section: usize, length: usize): usize {
  const end = section + length;
  const commas = i8x16.splat(<i8>COMMA);
  const equals = i8x16.splat(<i8>EQUALS);
  const backslashes = i8x16.splat(<i8>BACKSLASH);
  let measurementLength: usize = 0;
  let start: usize = 0;
  let keyLength: usize = 0;
  tagCount = 0;
  for (let block = section; block < end; block += 16) {
    const bytes = v128.load(block);
    const bits = firstBits(end - block);
    const isComma = i8x16.eq(bytes, commas);
    // Bytes with the highest bit set are not ASCII.
    if ((i8x16.bitmask(v128.or(bytes, i8x16.eq(bytes, backslashes))) & bits) !== 0) return 0;
    let mask = i8x16.bitmask(v128.or(isComma, i8x16.eq(bytes, equals))) & bits;
    while (mask !== 0) {
      const p = block + <usize>ctz(mask);
      mask &= mask - 1;
      if (load<u8>(p) === EQUALS) {
        // In the measurement, a second equals sign, or a tag without a key.
        if (start === 0 || keyLength !== 0 || p === start) return 0;
        keyLength = p - start;
        if (isTime(start, keyLength)) return 0;
        continue;
      }
      if (start === 0) measurementLength = p - section;
      else if (!closeTag(start, p, keyLength)) return 0;
      if (p === section) return 0;
      start = p + 1;
      keyLength = 0;
    }
  }
  if (start === 0) return length;
  return closeTag(start, end, keyLength) ? measurementLength : 0;
}

/**
 * Adds the tag that ends at `end`. Returns false if it has no equals sign or no value, or if there
 * are too many tags.
 */
@inline
function closeTag(start: usize, end: usize, keyLength: usize): bool {
  if (keyLength === 0 || end - start === keyLength + 1 || tagCount === TAGS_MAX) return false;
  addTag(start, end - start, keyLength);
  return true;
}

/**
 * Splits a section into measurement and tags. Returns the length of the measurement, or 0 for the
 * slow path.
 */
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
      // In a measurement `\=` loses its backslash in the canonical key.
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
    if (isTime(start, keyLength)) return 0;
    addTag(start, p - start, keyLength);
  }
  // Tags are sorted by their keys without escapes.
  if (hasEscapedKey && tagCount > 1) return 0;
  if (highBits >= 0x80 && !isUtf8(section, length)) return 0;
  return measurementLength;
}

/** Number and name of the measurement that was looked up last. */
let lastMeasurement: u32 = 0;
let lastLength: u32 = 0;

function sectionMeasurement(name: usize, length: u32): u32 {
  if (length !== lastLength || !sameBytes(measurementName(lastMeasurement), name, <usize>length)) {
    lastMeasurement = measurementOf(name, length);
    lastLength = measurementNameLength(lastMeasurement);
  }
  return lastMeasurement;
}

/** Writes the key of a section, whose tags are sorted, to the buffer. */
function writeKey(section: usize, measurementLength: usize): void {
  copyText(keyBuffer, section, measurementLength);
  let out = keyBuffer + measurementLength;
  for (let i = 0; i < tagCount; i++) {
    const tag = tags + <usize>i * TAG_BYTES;
    noteTag(load<u32>(tag, 12));
    // With the comma before the tag.
    const bytes = <usize>load<u32>(tag, 4) + 1;
    copyText(out, <usize>load<u32>(tag) - 1, bytes);
    out += bytes;
  }
}

/** Stages the series of a section. Returns false for the slow path. */
export function stageSection(section: usize, length: usize, hash: u32): bool {
  let measurementLength = splitPlain(section, length);
  if (measurementLength === 0) measurementLength = splitSection(section, length);
  if (measurementLength === 0) return false;
  const sorting = sortTags();
  if (sorting < 0) return false;
  let key = section;
  let keyHash = hash;
  noteSection();
  if (sorting === 0) {
    writeKey(section, measurementLength);
    key = keyBuffer;
    keyHash = hashKey(key, length);
  }
  const measurement = sectionMeasurement(section, <u32>measurementLength);
  const series = findSeries(key, <u32>length, keyHash);
  stageSeries(series, measurement);
  stageKey(key, <u32>length, keyHash);
  if (series === NO_SERIES) stageText(section, <u32>length, hash);
  else addCached(section, <u32>length, hash, series);
  return true;
}
