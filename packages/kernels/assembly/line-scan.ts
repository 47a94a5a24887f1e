// The fast path of line protocol: accepts lines that are certainly correct. All others, including
// all errors, are left to the slow path, which parses the line again. So no texts of errors are
// needed here.
import { TYPE_BOOLEAN, TYPE_STRING } from './abi.gen';
import { body, bodyEnd, openBody } from './body';
import { LAYOUT_PLACES, layoutOf, Place, placeAt, placeCount, setCount, setPlace } from './layouts';
import {
  booleanBits,
  hasEscapes,
  lineTime,
  quotedEnd,
  scanBoolean,
  scanLineEnd,
  sectionEnd,
} from './line-parts';
import { allocatePages, freePages } from './memory';
import { numberBits, numberType, scanNumber } from './number';
import { stageSection } from './sections';
import { hashKey, NO_SERIES, seriesMeasurement } from './series';
import { findCached, guessedLength, guessSeries } from './series-guess';
import { finishStage, stagedMeasurement, stageField, stageSeries } from './stage';
import { fieldName, fieldNameLength, fieldOf } from './names';
import { sameBytes } from './bytes';
import { isUtf8 } from './utf8';

const CARRIAGE_RETURN: u32 = 13;
const SPACE: u32 = 32;
const QUOTE: u32 = 34;
const COMMA: u32 = 44;
const MINUS: u32 = 45;
const EQUALS: u32 = 61;
const BACKSLASH: u32 = 92;

// Leaves four bytes and a field name of the 65,535 that they and a key may have together; the slow
// path checks the exact sum.
const SECTION_MAX: usize = 60000;
const FIELD_NAME_MAX: usize = 4096;

// Strings of the present line without their escapes: memory for the whole body, from the first such
// string until the lines are closed.
let texts: usize = 0;
let textsBytes: usize = 0;
let textAt: usize = 0;

/** Sets the body to read lines of, as `openBody`. */
export function openLines(address: usize, bytes: usize): void {
  closeLines();
  sectionLine = 0;
  openBody(address, bytes);
}

/** Frees the memory for strings. No more lines are read. */
export function closeLines(): void {
  if (texts !== 0) freePages(texts, textsBytes);
  texts = 0;
}

/**
 * Reads the field name at `p`, which ends with `=`. Returns the position after it, or 0 for the
 * slow path.
 */
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
  // A field named time is skipped, or refuses the point if it is the only one.
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

let textBytesMax: usize = u32.MAX_VALUE;

/** Lines with longer texts take the slow path. */
export function setTextLimit(bytes: u32): void {
  textBytesMax = <usize>bytes;
}

/** Address and length of the text that `scanString` read. */
export let textBits: u64 = 0;

/**
 * Reads the string whose opening quote is at `quote`. Returns the position after the closing one,
 * or 0 for the slow path.
 */
export function scanString(quote: usize): usize {
  const p = quotedEnd(quote);
  if (p === 0) return 0;
  const start = quote + 1;
  let text = start;
  let length = p - start;
  if (hasEscapes) {
    if (texts === 0) {
      textsBytes = bodyEnd - body;
      texts = allocatePages(textsBytes);
      if (texts === 0) return 0;
      textAt = texts;
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
  if (length > textBytesMax) return 0;
  textBits = <u64>text | ((<u64>length) << 32);
  return p + 1;
}

// Result of the last `lineSeries`: line, length of its section (0 if it is not plain) and series.
// `sectionHash` is set if the series is unknown.
let sectionLine: usize = 0;
export let sectionLength: usize = 0;
let sectionSeries: u32 = NO_SERIES;
let sectionHash: u32 = 0;

/**
 * The series of a line by its text; NO_SERIES when it is not in the cache. Repeating the call for
 * the same line costs nothing.
 */
@inline
export function lineSeries(line: usize): u32 {
  if (sectionLine !== line) lookUp(line);
  return sectionSeries;
}

function lookUp(line: usize): void {
  sectionLine = line;
  if (load<u8>(line) === CARRIAGE_RETURN) {
    sectionLength = 0;
    sectionSeries = NO_SERIES;
    return;
  }
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

/** Begins a line: its strings replace those of the previous line. */
@inline
export function beginLine(): void {
  textAt = texts;
}

/**
 * Reads the line at `line` and stages its point. Returns the end of the line, or 0 for the slow
 * path.
 */
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
    const nameLength: usize = index < placeCount(layout) ? <usize>place.nameLength : 0;
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

/** Reads the value at `p`. Returns its end, or 0 for the slow path. */
@inline
function stageValue(p: usize, field: u32): usize {
  const byte = <u32>load<u8>(p);
  if (byte - 48 <= 9 || byte === MINUS || byte === 46) {
    p = scanNumber(p);
    return p === 0 || !stageField(field, numberType, numberBits) ? 0 : p;
  }
  if (byte === QUOTE) {
    p = scanString(p);
    return p === 0 || !stageField(field, TYPE_STRING, textBits) ? 0 : p;
  }
  p = scanBoolean(p);
  return p === 0 || !stageField(field, TYPE_BOOLEAN, booleanBits) ? 0 : p;
}
