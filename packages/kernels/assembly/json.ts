// Prints rows of columns as JSON arrays, as in answers of queries. The loader lays out the columns
// (src/json-rows.ts) and takes the text.
import {
  JSON_COLUMN_BYTES,
  JSON_COLUMN_POSITIONS,
  JSON_COLUMN_TEXTS,
  JSON_COLUMN_UNIT,
  JSON_COLUMN_VALID,
  JSON_COLUMN_VALUES,
  VALUE_BOOLEAN,
  VALUE_FLOAT,
  VALUE_INTEGER,
  VALUE_TEXT,
  VALUE_TIME,
  VALUE_UNSIGNED,
} from './abi.gen';
import { writeInteger, writePadded, writeUnsigned } from './digits';
import { writeFloat } from './float-text';
import { jsonTextBound, writeJsonText } from './json-text';

const COMMA: u8 = 44;
const OPEN: u8 = 91;
const CLOSE: u8 = 93;
const QUOTE: u8 = 34;
const NULL: u32 = 0x6c6c756e;

const NANOS: i64 = 1000000000;
const DAY: i64 = 86400;

/** "2006-01-02T" of the last printed day. */
const date: usize = memory.data(16);
let dateOfDay: i64 = i64.MIN_VALUE;

/**
 * Prints the date of a day counted from 1970-01-01. Computes it from the days of 400 years, which
 * begin in March.
 */
function prepareDate(day: i64): void {
  if (day === dateOfDay) return;
  dateOfDay = day;
  const shifted = day + 719468;
  const era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const ofEra = <u32>(shifted - era * 146097);
  const yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146096) / 365;
  const ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const month = (5 * ofYear + 2) / 153;
  const dayOfMonth = ofYear - (153 * month + 2) / 5 + 1;
  const civilMonth = month < 10 ? month + 3 : month - 9;
  const year = <u32>(era * 400 + <i64>yearOfEra) + (civilMonth <= 2 ? 1 : 0);
  let at = writePadded(date, year, 4);
  store<u8>(at, 45);
  at = writePadded(at + 1, civilMonth, 2);
  store<u8>(at, 45);
  at = writePadded(at + 1, dayOfMonth, 2);
  store<u8>(at, 84);
}

function writeTime(at: usize, time: i64): usize {
  let seconds = time / NANOS;
  let nanos = time - seconds * NANOS;
  if (nanos < 0) {
    nanos += NANOS;
    seconds--;
  }
  let day = seconds / DAY;
  let rest = <i32>(seconds - day * DAY);
  if (rest < 0) {
    rest += <i32>DAY;
    day--;
  }
  prepareDate(day);
  store<u8>(at, QUOTE);
  memory.copy(at + 1, date, 11);
  at = writePadded(at + 12, rest / 3600, 2);
  store<u8>(at, 58);
  at = writePadded(at + 1, (rest / 60) % 60, 2);
  store<u8>(at, 58);
  at = writePadded(at + 1, rest % 60, 2);
  if (nanos !== 0) {
    store<u8>(at, 46);
    at = writePadded(at + 1, <u32>nanos, 9);
    while (load<u8>(at - 1) === 48) at--;
  }
  store<u8>(at, 90);
  store<u8>(at, QUOTE, 1);
  return at + 2;
}

/** Largest size of a cell with its comma, texts aside. */
const CELL_BYTES: usize = 40;
/** Brackets and comma of a row. */
const ROW_BYTES: usize = 3;

/** Behind it, only cells that are no texts have room. */
let limit: usize = 0;
/** Whether a text had no room. */
let isFull: bool = false;
let written: u32 = 0;

/** How many rows `writeRows` has written. */
export function writtenRows(): u32 {
  return written;
}

let infinite: f64 = 0;

/** The value at which `writeRows` stopped. */
export function infiniteValue(): f64 {
  return infinite;
}

@inline
function writeCell(at: usize, column: usize, row: u32): usize {
  const valid = load<u32>(column, JSON_COLUMN_VALID);
  if (valid !== 0 && load<u8>(<usize>valid + <usize>row) === 0) {
    store<u32>(at, NULL);
    return at + 4;
  }
  const values = <usize>load<u32>(column, JSON_COLUMN_VALUES);
  switch (load<u32>(column)) {
    case VALUE_FLOAT: {
      const value = load<f64>(values + <usize>row * 8);
      if (value !== value) {
        store<u32>(at, NULL);
        return at + 4;
      }
      if (value === Infinity || value === -Infinity) {
        infinite = value;
        return 0;
      }
      return writeFloat(at, value);
    }
    case VALUE_INTEGER:
      return writeInteger(at, load<i64>(values + <usize>row * 8));
    case VALUE_UNSIGNED:
      return writeUnsigned(at, load<u64>(values + <usize>row * 8));
    case VALUE_BOOLEAN: {
      if (load<u8>(values + <usize>row) === 1) {
        store<u32>(at, 0x65757274);
        return at + 4;
      }
      store<u32>(at, 0x736c6166);
      store<u8>(at, 101, 4);
      return at + 5;
    }
    case VALUE_TEXT: {
      const code = load<u32>(values + <usize>row * 4);
      const place = <usize>load<u32>(column, JSON_COLUMN_POSITIONS) + <usize>code * 4;
      const from = load<u32>(place);
      const length = <usize>(load<u32>(place, 4) - from);
      if (at + jsonTextBound(length) > limit) {
        isFull = true;
        return 0;
      }
      return writeJsonText(at, <usize>load<u32>(column, JSON_COLUMN_TEXTS) + <usize>from, length);
    }
    case VALUE_TIME:
      return writeTime(at, load<i64>(values + <usize>row * 8));
    default: {
      const unit = load<i64>(column, JSON_COLUMN_UNIT);
      const time = load<i64>(values + <usize>row * 8);
      return writeInteger(at, unit === 1 ? time : time / unit);
    }
  }
}

/**
 * Writes rows [from, to) as `[a,b],[c,d]` to `dst`, as many as certainly fit in `room` bytes
 * (`writtenRows`). `table` describes `columns` columns. Returns the end, or 0 at a number that JSON
 * cannot represent.
 */
export function writeRows(
  table: usize,
  columns: u32,
  from: u32,
  to: u32,
  dst: usize,
  room: usize,
): usize {
  let at = dst;
  const end = table + <usize>columns * JSON_COLUMN_BYTES;
  const rest = <usize>columns * CELL_BYTES + ROW_BYTES;
  limit = room < rest ? dst : dst + room - rest;
  isFull = false;
  written = 0;
  for (let row = from; row < to; row++) {
    if (at > limit) return at;
    const start = at;
    if (row > from) store<u8>(at++, COMMA);
    store<u8>(at++, OPEN);
    for (let column = table; column < end; column += JSON_COLUMN_BYTES) {
      if (column > table) store<u8>(at++, COMMA);
      at = writeCell(at, column, row);
      if (at === 0) return isFull ? start : 0;
    }
    store<u8>(at++, CLOSE);
    written++;
  }
  return at;
}
