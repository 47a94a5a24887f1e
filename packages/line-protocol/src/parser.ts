// Line protocol: bytes in, points and errors out. An invalid line never affects its neighbours.
// Checks run in the same order as in InfluxDB, so that the reported reasons are the same.
import { MAX_INT64, MAX_TIME, MIN_INT64, MIN_TIME, PRECISION_NANOS } from '@tidemark/core';
import type { Precision, Timestamp } from '@tidemark/core';

import {
  BACKSLASH,
  CARRIAGE_RETURN,
  COMMA,
  EQUALS,
  HASH,
  MINUS,
  NEWLINE,
  NINE,
  NUL,
  QUOTE,
  SPACE,
  TAB,
  ZERO,
  decodeText,
  unescapeKeyPart,
  unescapeString,
} from './bytes.ts';
import { parseBoolean, scanNumber, startsNumber } from './number.ts';
import type { ValueCursor } from './number.ts';
import type { LineError, LineFieldValue, LinePoint, LineSeries } from './point.ts';
import { truncateToPrecision } from './precision.ts';
import {
  hashSeriesSection,
  keyTooLong,
  MAX_KEY_BYTES,
  parseSeries,
  SeriesCache,
} from './series.ts';
import { endOfLine, LineSplitter } from './split.ts';

export type ParseLinesOptions = {
  readonly precision: Precision;
  /** Time of points without one; it is truncated to the precision. */
  readonly now: Timestamp;
  /** Accept `1u` as an unsigned integer; off by default, as in InfluxDB. */
  readonly allowUnsigned?: boolean | undefined;
  /** Keeps parsed series from one body to the next. */
  readonly cache?: SeriesCache | undefined;
};

export type ParsedLines = {
  readonly points: LinePoint[];
  readonly errors: LineError[];
};

/** Parses a body. Never throws; points and errors are in line order. */
export function parseLines(body: Uint8Array, options: ParseLinesOptions): ParsedLines {
  return new LineParser(body, options).parse();
}

// A value that no field can have, so that a failed scan is not mistaken for one.
const NO_TIME: Timestamp = MIN_TIME - 1n;
// Timestamps of up to this many digits are exact as a double.
const EXACT_DIGITS = 15;

/** The part of a line after its series. */
export type LineValues = Pick<LinePoint, 'fields' | 'time' | 'end'>;

type FieldName = { readonly bytes: Uint8Array; readonly name: string };

/** Reads the lines of a body, all or some of them. */
export class LineParser {
  readonly #body: Uint8Array;
  readonly #unitNanos: bigint;
  readonly #now: Timestamp;
  readonly #cache: SeriesCache;
  readonly #value: ValueCursor;
  readonly #section = { end: 0, hash: 0 };
  // Lines of one body usually have the same fields in the same positions.
  readonly #expectedFields: FieldName[] = [];
  #reason = '';
  #fieldsEnd = 0;
  // Neighbouring lines often share their timestamp; the parts of the last one are kept to reuse the
  // bigint.
  #lastHigh = -1;
  #lastLow = -1;
  #lastTime: Timestamp = 0n;

  constructor(body: Uint8Array, options: ParseLinesOptions) {
    this.#body = body;
    this.#value = {
      start: 0,
      limit: 0,
      allowUnsigned: options.allowUnsigned ?? false,
      end: 0,
      value: 0,
      reason: undefined,
    };
    this.#unitNanos = PRECISION_NANOS[options.precision];
    this.#now = truncateToPrecision(options.now, options.precision);
    this.#cache = options.cache ?? new SeriesCache();
  }

  parse(): ParsedLines {
    const body = this.#body;
    const points: LinePoint[] = [];
    const errors: LineError[] = [];
    const splitter = new LineSplitter(body);
    let lineNumber = 1;
    let at = 0;
    while (at < body.length) {
      const start = skipBlanks(body, at, body.length);
      if (body[start] === HASH) {
        at = endOfComment(body, start) + 1;
        lineNumber++;
        continue;
      }
      const end = splitter.lineEnd(start);
      if (start < end) {
        const point = this.#parseLine(start, end, lineNumber);
        if (point === undefined) {
          errors.push({ lineNumber, text: decodeText(body, start, end), reason: this.#reason });
        } else points.push(point);
      }
      lineNumber += 1 + countNewlines(body, start, end);
      at = end + 1;
    }
    return { points, errors };
  }

  /**
   * Fields and time of the line that begins at `start` and whose measurement and tags, which are
   * known, end at the blank at `keyEnd`; `undefined` if they are invalid.
   */
  valuesAt(start: number, keyEnd: number): LineValues | undefined {
    const end = endOfLine(this.#body, start);
    const fields = this.#parseFields(keyEnd, end, keyEnd - start);
    if (fields === undefined) return undefined;
    const time = this.#parseTime(this.#fieldsEnd, end);
    return time === NO_TIME ? undefined : { fields, time, end };
  }

  #parseLine(start: number, end: number, lineNumber: number): LinePoint | undefined {
    const series = this.#parseSeries(start, end);
    if (series === undefined) return undefined;
    // It would be the first letter of the measurement.
    if (this.#body[start] === CARRIAGE_RETURN) {
      return this.#fail('carriage return at the start of the line');
    }
    const keyBytes = this.#section.end - start;
    const fields = this.#parseFields(this.#section.end, end, keyBytes);
    if (fields === undefined) return undefined;
    const time = this.#parseTime(this.#fieldsEnd, end);
    if (time === NO_TIME) return undefined;
    return {
      series,
      measurement: series.measurement,
      tags: series.tags,
      fields,
      time,
      lineNumber,
      start,
      end,
    };
  }

  #parseSeries(start: number, lineEnd: number): LineSeries | undefined {
    const section = this.#section;
    hashSeriesSection(this.#body, { start, end: lineEnd }, section);
    const range = { start, end: section.end, hash: section.hash };
    const hasFields = section.end < lineEnd;
    if (hasFields) {
      const known = this.#cache.find(this.#body, range);
      if (known !== undefined) return known;
    }
    const bytes = this.#body.subarray(start, section.end);
    const series = parseSeries(bytes, hasFields);
    if (typeof series === 'string') {
      this.#reason = series;
      return undefined;
    }
    this.#cache.add(bytes, section.hash, series);
    return series;
  }

  #parseFields(
    start: number,
    end: number,
    keyBytes: number,
  ): readonly (readonly [string, LineFieldValue])[] | undefined {
    const body = this.#body;
    const fields: [string, LineFieldValue][] = [];
    // Structural mistakes are reported only if no value before the end of the section is invalid by
    // itself.
    let isMalformed = false;
    let isKeyTooLong = 0;
    let at = skipBlanks(body, start, end);
    for (;;) {
      const keyStart = at;
      let i = at;
      while (i < end) {
        const byte = body[i]!;
        if (byte === EQUALS || byte === SPACE) break;
        if (byte === COMMA) {
          isMalformed = true;
          if (body[i + 1] === EQUALS) return this.#fail('missing field key');
        }
        i += byte === BACKSLASH && i + 1 < end ? 2 : 1;
      }
      if (i >= end || body[i] === SPACE) {
        isMalformed = true;
        this.#fieldsEnd = i;
        break;
      }
      if (i === keyStart) return this.#fail('missing field key');
      if (isKeyTooLong === 0 && keyBytes + 4 + (i - keyStart) > MAX_KEY_BYTES) {
        isKeyTooLong = keyBytes + 4 + (i - keyStart);
      }
      if (!this.#parseValue(i + 1, end)) return undefined;
      fields.push([this.#fieldName(fields.length, keyStart, i), this.#value.value]);
      at = this.#value.end;
      if (at < end && body[at] !== COMMA && body[at] !== SPACE) {
        // Bytes after the closing quote of a string.
        isMalformed = true;
        while (at < end && body[at] !== COMMA && body[at] !== SPACE) at++;
      }
      if (at >= end || body[at] === SPACE) {
        this.#fieldsEnd = at;
        break;
      }
      at++;
    }
    if (isMalformed) return this.#fail('invalid field format');
    if (isKeyTooLong > 0) return this.#fail(keyTooLong(isKeyTooLong));
    return fields;
  }

  #fail(reason: string): undefined {
    this.#reason = reason;
    return undefined;
  }

  /** Reads the value at `start` into `#value`, whatever its type; on failure `#reason` says why. */
  #parseValue(start: number, end: number): boolean {
    const body = this.#body;
    const result = this.#value;
    const byte = start < end ? body[start]! : SPACE;
    if (byte === COMMA || byte === SPACE) {
      this.#reason = 'missing field value';
      return false;
    }
    if (startsNumber(byte)) {
      result.start = start;
      result.limit = end;
      scanNumber(body, result);
      if (result.reason === undefined) return true;
      this.#reason = result.reason;
      return false;
    }
    if (byte === QUOTE) return this.#parseString(start + 1, end);
    let i = start + 1;
    while (i < end && body[i] !== COMMA && body[i] !== SPACE) i++;
    const value = parseBoolean(body, start, i);
    if (value === undefined) {
      this.#reason = 'invalid boolean';
      return false;
    }
    result.value = value;
    result.end = i;
    return true;
  }

  /**
   * Quotes in a text come in pairs, as in `"b "c""`: it ends with the one before a comma, a blank
   * or an equals sign that is between pairs. Bytes after that quote are refused later.
   */
  #parseString(start: number, end: number): boolean {
    const body = this.#body;
    let isOpen = true;
    let last = start;
    for (let i = start; i < end; i++) {
      const byte = body[i]!;
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) {
        isOpen = !isOpen;
        if (!isOpen) last = i;
      } else if (!isOpen && (byte === COMMA || byte === SPACE || byte === EQUALS)) break;
    }
    if (isOpen) {
      this.#reason = 'unbalanced quotes';
      return false;
    }
    this.#value.value = unescapeString(decodeText(body, start, last));
    this.#value.end = last + 1;
    return true;
  }

  #fieldName(index: number, start: number, end: number): string {
    const body = this.#body;
    const expected = this.#expectedFields[index];
    const length = end - start;
    if (expected !== undefined && expected.bytes.length === length) {
      let i = 0;
      while (i < length && expected.bytes[i] === body[start + i]) i++;
      if (i === length) return expected.name;
    }
    const name = unescapeKeyPart(decodeText(body, start, end));
    this.#expectedFields[index] = { bytes: body.slice(start, end), name };
    return name;
  }

  #parseTime(start: number, lineEnd: number): Timestamp {
    const body = this.#body;
    const first = skipBlanks(body, start, lineEnd);
    if (first >= lineEnd) return this.#now;
    const isNegative = body[first] === MINUS;
    const digitsStart = isNegative ? first + 1 : first;
    let end = digitsStart;
    while (end < lineEnd && body[end] !== SPACE) {
      const byte = body[end]!;
      if (byte < ZERO || byte > NINE) return this.#failTime('bad timestamp');
      end++;
    }
    for (let i = end; i < lineEnd; i++) {
      if (body[i] !== SPACE) return this.#failTime('point is invalid');
    }
    if (end === digitsStart) {
      const text = decodeText(body, first, end);
      return this.#failTime(`strconv.ParseInt: parsing "${text}": invalid syntax`);
    }
    if (isNegative || end - digitsStart > 2 * EXACT_DIGITS) {
      return this.#checkedTime(BigInt(decodeText(body, first, end)), first, end);
    }
    const split = Math.max(digitsStart, end - EXACT_DIGITS);
    let high = 0;
    for (let i = digitsStart; i < split; i++) high = high * 10 + (body[i]! - ZERO);
    let low = 0;
    for (let i = split; i < end; i++) low = low * 10 + (body[i]! - ZERO);
    if (high === this.#lastHigh && low === this.#lastLow) return this.#lastTime;
    const units = high === 0 ? BigInt(low) : BigInt(high) * 1_000_000_000_000_000n + BigInt(low);
    const time = this.#checkedTime(units, first, end);
    if (time !== NO_TIME) {
      this.#lastHigh = high;
      this.#lastLow = low;
      this.#lastTime = time;
    }
    return time;
  }

  #checkedTime(units: bigint, start: number, end: number): Timestamp {
    if (units < MIN_INT64 || units > MAX_INT64) {
      const text = decodeText(this.#body, start, end);
      return this.#failTime(`strconv.ParseInt: parsing "${text}": value out of range`);
    }
    const time = this.#unitNanos === 1n ? units : units * this.#unitNanos;
    if (time >= MIN_TIME && time <= MAX_TIME) return time;
    return this.#failTime(`time outside range ${MIN_TIME} - ${MAX_TIME}`);
  }

  #failTime(reason: string): Timestamp {
    this.#reason = reason;
    return NO_TIME;
  }
}

/** Offset of the first byte at or after `start` that is not a space, tab or NUL. */
function skipBlanks(body: Uint8Array, start: number, end: number): number {
  let i = start;
  while (i < end && (body[i] === SPACE || body[i] === TAB || body[i] === NUL)) i++;
  return i;
}

function endOfComment(body: Uint8Array, start: number): number {
  const newline = body.indexOf(NEWLINE, start);
  return newline < 0 ? body.length : newline;
}

function countNewlines(body: Uint8Array, start: number, end: number): number {
  let count = 0;
  let at = body.indexOf(NEWLINE, start);
  while (at >= 0 && at < end) {
    count++;
    at = body.indexOf(NEWLINE, at + 1);
  }
  return count;
}
