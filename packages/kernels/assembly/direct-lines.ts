// Appends plain lines directly to the columns of their table: lines with the same fields as the
// previous line, in the same order, of known series and columns. No point is staged, and the state
// of columns is updated once for a run of lines. Any other line is left to line-scan.ts, which
// reads it from its beginning; its values written so far are after the last row and have no effect.
import { TYPE_BOOLEAN, TYPE_INTEGER, TYPE_STRING } from './abi.gen';
import { bodyEnd } from './body';
import { booleanBits, lineTime, scanBoolean, scanLineEnd } from './line-parts';
import { beginLine, lineSeries, scanString, sectionLength, textBits } from './line-scan';
import {
  closeLayout,
  Layout,
  layoutOf,
  nextPlace,
  noteMiss,
  openLayout,
  Place,
  placeAt,
} from './layouts';
import { digitsValue, leadingDigits, numberBits, numberType, scanNumber } from './number';
import { NO_SERIES, seriesMeasurement } from './series';
import { sameBytes } from './bytes';
import { Column, keepText, NO_TEXT, Table, tableBytes } from './table';

const SPACE: u32 = 32;
const COMMA: u32 = 44;
const MINUS: u64 = 45;
const QUOTE: u32 = 34;
const EQUALS: u32 = 61;
const LETTER_I: u32 = 105;

/**
 * Limits of a call: range of times, bytes of all tables, and work, of which every line and value
 * costs some.
 */
let oldest: i64 = 0;
let newest: i64 = 0;
let bytesMax: usize = 0;

/** Rows and values that the last call appended. */
export let appendedRows: u32 = 0;
export let appendedValues: u32 = 0;

export function setDirectBounds(oldestTime: i64, newestTime: i64, bytesLimit: usize): void {
  oldest = oldestTime;
  newest = newestTime;
  bytesMax = bytesLimit;
}

/**
 * Appends lines from `start` on to tables of one shard. Returns the first line that is not
 * appended. A line costs `lineWork`, a value costs 1, and `workMax` is the limit. `tables` has the
 * address of the table for each measurement below `tableCount`.
 */
export function appendLines(
  start: usize,
  tables: usize,
  tableCount: u32,
  batch: u32,
  shard: u32,
  lineWork: u32,
  workMax: u32,
): usize {
  appendedRows = 0;
  appendedValues = 0;
  let p = start;
  while (p < bodyEnd) {
    const work = appendedRows * lineWork + appendedValues;
    if (work >= workMax) break;
    const series = lineSeries(p);
    if (series === NO_SERIES) break;
    const measurement = seriesMeasurement(series);
    if (measurement >= tableCount) break;
    const table = <usize>load<u32>(tables + <usize>measurement * 4);
    if (table === 0) break;
    const found = changetype<Table>(table);
    if (found.shard !== shard || found.batch !== batch) break;
    const layout = layoutOf(measurement);
    if (!openLayout(layout, table, batch)) break;
    const count = changetype<Layout>(layout).count;
    const room = (workMax - work + lineWork + count - 1) / (lineWork + count);
    const before = found.rowCount;
    const next = appendRun(p, layout, table, min(found.capacity, before + room));
    const rows = found.rowCount - before;
    if (rows > 0) closeLayout(layout, found.rowCount);
    found.valueCount += rows * count;
    appendedRows += rows;
    appendedValues += rows * count;
    if (next === p) break;
    p = next;
  }
  return p;
}

/**
 * Appends lines of one measurement until the table has `rowsMax` rows. Returns the first line that
 * is not appended.
 */
function appendRun(start: usize, layout: usize, tableAddress: usize, rowsMax: u32): usize {
  const table = changetype<Table>(tableAddress);
  const measurement = table.measurement;
  let row = table.rowCount;
  let minTime = table.minTime;
  let maxTime = table.maxTime;
  let p = start;
  while (row < rowsMax && p < bodyEnd && tableBytes() <= bytesMax) {
    const series = lineSeries(p);
    if (series === NO_SERIES || seriesMeasurement(series) !== measurement) break;
    const fields = scanFields(p + sectionLength + 1, layout, row);
    const end = fields === 0 ? 0 : scanLineEnd(fields);
    if (end === 0) {
      noteMiss(layout, table.batch);
      break;
    }
    const time = lineTime;
    if (time < oldest || time > newest) break;
    store<u32>(table.series + ((<usize>row) << 2), series);
    store<i64>(table.times + ((<usize>row) << 3), time);
    if (time < minTime) minTime = time;
    if (time > maxTime) maxTime = time;
    row++;
    p = end + 1;
  }
  table.rowCount = row;
  table.minTime = minTime;
  table.maxTime = maxTime;
  return p;
}

/**
 * Reads the fields at `p` into the row of their columns. Returns their end; 0 if they are not the
 * expected ones.
 */
@inline
function scanFields(p: usize, layout: usize, row: u32): usize {
  beginLine();
  const last = placeAt(layout, changetype<Layout>(layout).count);
  let at = placeAt(layout, 0);
  while (true) {
    const place = changetype<Place>(at);
    const nameLength = <usize>place.nameLength;
    if (p + nameLength >= bodyEnd || load<u8>(p + nameLength) !== EQUALS) return 0;
    if (!sameBytes(place.name, p, nameLength)) return 0;
    p = scanValue(p + nameLength + 1, changetype<Column>(place.column), row);
    if (p === 0) return 0;
    at = nextPlace(at);
    if (at === last) return p;
    if (load<u8>(p) !== COMMA) return 0;
    p++;
  }
}

/**
 * Reads the value at `p` into the row. Returns its end; 0 if it has another type or is not plain.
 */
@inline
function scanValue(p: usize, column: Column, row: u32): usize {
  const type = column.type;
  if (type === TYPE_INTEGER) {
    // Usually a few digits, which are in this word.
    const first = load<u64>(p);
    const isNegative = (first & 0xff) === MINUS;
    const start = isNegative ? p + 1 : p;
    const word = isNegative ? load<u64>(start) : first;
    const count = leadingDigits(word);
    if (count - 1 < 7 && (<u32>(word >> ((<u64>count) << 3)) & 0xff) === LETTER_I) {
      const value = digitsValue(word, count);
      store<i64>(column.values + ((<usize>row) << 3), isNegative ? -value : value);
      return start + <usize>count + 1;
    }
  }
  if (type < TYPE_STRING) {
    const byte = <u32>load<u8>(p);
    if (byte - 48 > 9 && byte !== 45 && byte !== 46) return 0;
    p = scanNumber(p);
    if (p === 0 || numberType !== type) return 0;
    store<u64>(column.values + ((<usize>row) << 3), numberBits);
    return p;
  }
  if (type === TYPE_BOOLEAN) {
    p = scanBoolean(p);
    if (p !== 0) store<u8>(column.values + <usize>row, <u8>booleanBits);
    return p;
  }
  if (load<u8>(p) !== QUOTE) return 0;
  p = scanString(p);
  if (p === 0) return 0;
  const text = keepText(textBits);
  if (text === NO_TEXT) return 0;
  store<u64>(column.values + ((<usize>row) << 3), text);
  return p;
}
