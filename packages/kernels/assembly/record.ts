// Log records of batches: docs/formats/batch-record.md. The loader walks the structure, tables and columns are encoded
// and decoded here in one go.
import { allocate } from './arena';
import { decodeBits, encodeBits } from './bits';
import { startBlock } from './blocks';
import { at, end, ERROR_TOO_LARGE, ERROR_VALUE, writeVarint } from './bytes';
import { decodeFloats, encodeFloats } from './floats';
import { decodeInts, encodeInts } from './ints';
import { scratch } from './memory';
import { measurementOf } from './symbols';
import { hashKey, findSeries, addSeries, seriesExists, NO_SERIES } from './series';
import { decodeStrings, encodeStrings, stringBytes, stringCodes, stringOffsets, stringsBound } from './strings';
import {
  Column,
  columnAt,
  Memtable,
  columnPage,
  openPage,
  pageOfRow,
  pageRowsOf,
  pageStartOf,
  seriesOfRow,
  Table,
  timeOfRow,
  TYPE_BOOLEAN,
  TYPE_FLOAT,
  TYPE_STRING,
  valueOfRow,
  widthOfType,
} from './table';

/** Ids are small enough for tables in memory. */
const SERIES_ID_MAX: u32 = 0x7fffffff;

const SCRATCH_VALUES = 10;
const SCRATCH_VALID = 11;
const SCRATCH_OUTPUT = 1;

/** Encodes series ids and times of rows [from, to) into scratch 1; returns the size, or 0 without memory. */
export function encodeRowHeads(tableAddress: usize, from: u32, to: u32): usize {
  const table = changetype<Table>(tableAddress);
  const count = to - from;
  const values = scratch(SCRATCH_VALUES, <usize>count * 8);
  const output = scratch(SCRATCH_OUTPUT, <usize>count * 22 + 256);
  if (values === 0 || output === 0) return 0;
  for (let i: u32 = 0; i < count; i++) {
    store<i64>(values + <usize>i * 8, <i64>seriesOfRow(table, from + i));
  }
  const middle = encodeInts(values, count, writeVarint(output, <u64>count), 0);
  for (let i: u32 = 0; i < count; i++) {
    store<i64>(values + <usize>i * 8, timeOfRow(table, from + i));
  }
  return encodeInts(values, count, middle, 0) - output;
}

/** Encodes validity and values of column `index` in rows [from, to) into scratch 1; the size, 0 for no values. */
export function encodeColumnRows(tableAddress: usize, index: u32, from: u32, to: u32): i32 {
  const table = changetype<Table>(tableAddress);
  const column = columnAt(table, index);
  const width = widthOfType(column.type);
  const count = to - from;
  const values = scratch(SCRATCH_VALUES, <usize>count * 8);
  const valid = scratch(SCRATCH_VALID, <usize>count);
  if (values === 0 || valid === 0) return ERROR_TOO_LARGE;
  let present: u32 = 0;
  let textBytes: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const source = valueOfRow(column, from + i, width);
    store<u8>(valid + <usize>i, source === 0 ? 0 : 1);
    if (source === 0) continue;
    if (width === 1) {
      store<u8>(values + <usize>present, load<u8>(source));
    } else {
      const bits = load<u64>(source);
      store<u64>(values + <usize>present * 8, bits);
      if (column.type === TYPE_STRING) textBytes += <usize>(bits >> 32);
    }
    present++;
  }
  if (present === 0) return 0;
  const bound = column.type === TYPE_STRING ? stringsBound(present, textBytes) : <usize>present * 11;
  const output = scratch(SCRATCH_OUTPUT, <usize>count + 256 + bound);
  if (output === 0) return ERROR_TOO_LARGE;
  let p = encodeBits(valid, count, writeVarint(output, <u64>count));
  if (column.type === TYPE_BOOLEAN) p = encodeBits(values, present, p);
  else if (column.type === TYPE_FLOAT) p = encodeFloats(values, present, p, 0);
  else if (column.type === TYPE_STRING) {
    p = encodeStrings(values, present, p, 0);
    if (p === 0) return ERROR_TOO_LARGE;
  } else p = encodeInts(values, present, p, 0);
  return <i32>(p - output);
}

/** Encodes the keys of series [first, first + count) into scratch 1 as a string block. Size or error. */
export function encodeKeys(references: usize, count: u32, bytes: usize): i32 {
  const output = scratch(SCRATCH_OUTPUT, stringsBound(count, bytes) + 16);
  if (output === 0) return ERROR_TOO_LARGE;
  const start = writeVarint(output, <u64>count);
  const p = encodeStrings(references, count, start, 0);
  return p === 0 ? ERROR_TOO_LARGE : <i32>(p - output);
}

/** Bytes of the measurement at the start of a canonical key. */
function measurementLengthOf(key: usize, length: u32): u32 {
  for (let i: u32 = 1; i < length; i++) {
    const p = key + <usize>i;
    if (load<u8>(p) === 44 && load<u8>(p - 1) !== 92) return i;
  }
  return length;
}

/** Adds a series under a given id. 0; an error when id or key are taken otherwise, or memory is exhausted. */
function insertSeries(key: usize, length: u32, id: u32): i32 {
  if (length === 0 || length > 65535 || id > SERIES_ID_MAX) return ERROR_VALUE;
  const hash = hashKey(key, <usize>length);
  const known = findSeries(key, length, hash);
  // A record may be older than the index that was loaded: it says again what is known.
  if (known === id) return 0;
  if (known !== NO_SERIES || seriesExists(id)) return ERROR_VALUE;
  const measurement = measurementOf(key, measurementLengthOf(key, length));
  return addSeries(key, length, hash, measurement, id) ? 0 : ERROR_TOO_LARGE;
}

/** Adds `count` series: references (address, length) and ids. 0 or an error. */
export function insertKeys(references: usize, ids: usize, count: u32): i32 {
  for (let i: u32 = 0; i < count; i++) {
    const key = references + <usize>i * 8;
    const id = load<u32>(ids + <usize>i * 4);
    const error = insertSeries(<usize>load<u32>(key), load<u32>(key, 4), id);
    if (error < 0) return error;
  }
  return 0;
}

/** Adds the series of a string block under consecutive ids. How many, or an error. */
export function insertKeyBlock(src: usize, bytes: usize, firstId: u32): i32 {
  const count = startBlock(src, bytes);
  if (count < 0) return count;
  const error = decodeStrings(<u32>count);
  if (error < 0) return error;
  if (at !== end || <u64>firstId + <u64>count > <u64>SERIES_ID_MAX) return ERROR_VALUE;
  for (let i = 0; i < count; i++) {
    const offsets = stringOffsets() + <usize>load<u32>(stringCodes() + <usize>i * 4) * 4;
    const from = load<u32>(offsets);
    const inserted = insertSeries(stringBytes() + <usize>from, load<u32>(offsets, 4) - from, firstId + i);
    if (inserted < 0) return inserted;
  }
  return count;
}

/** Appends the rows, still without values, of the section (count, ids, times) at `src`. How many, or an error. */
export function decodeRowHeads(tableAddress: usize, src: usize, bytes: usize): i32 {
  const table = changetype<Table>(tableAddress);
  const count = startBlock(src, bytes);
  if (count < 0) return count;
  const ids = scratch(SCRATCH_VALUES, <usize>count * 8);
  const times = scratch(SCRATCH_VALID, <usize>count * 8);
  if (ids === 0 || times === 0) return ERROR_TOO_LARGE;
  let error = decodeInts(<u32>count, ids);
  if (error < 0) return error;
  error = decodeInts(<u32>count, times);
  if (error < 0) return error;
  if (at !== end) return ERROR_VALUE;
  for (let i = 0; i < count; i++) {
    // Series that were removed since are not an error: readers find no key for them.
    if (load<u64>(ids + <usize>i * 8) > <u64>SERIES_ID_MAX) return ERROR_VALUE;
  }
  for (let i = 0; i < count; i++) {
    const row = table.rowCount;
    if (row === table.pageEnd || table.pageEnd === 0) {
      if (!openPage(table)) return ERROR_TOO_LARGE;
    }
    const time = load<i64>(times + <usize>i * 8);
    store<u32>(table.seriesBase + <usize>row * 4, load<u32>(ids + <usize>i * 8));
    store<i64>(table.timeBase + <usize>row * 8, time);
    if (time < table.minTime) table.minTime = time;
    if (time > table.maxTime) table.maxTime = time;
    table.rowCount = row + 1;
  }
  return count;
}

@inline
function appendText(table: Table, index: u32): u64 {
  const code = load<u32>(stringCodes() + <usize>index * 4);
  const offsets = stringOffsets() + <usize>code * 4;
  const from = load<u32>(offsets);
  const length = <usize>(load<u32>(offsets, 4) - from);
  const text = allocate(changetype<Memtable>(table.memtable).arena, length);
  if (text === 0) return u64.MAX_VALUE;
  memory.copy(text, stringBytes() + <usize>from, length);
  return <u64>text | (<u64>length << 32);
}

/** Reads a column section (count, validity, values) into a column's last rows. How many values, or an error. */
export function decodeColumnRows(
  tableAddress: usize,
  columnAddress: usize,
  src: usize,
  bytes: usize,
  rows: u32,
): i32 {
  const table = changetype<Table>(tableAddress);
  const column = changetype<Column>(columnAddress);
  const count = startBlock(src, bytes);
  if (count < 0) return count;
  if (<u32>count !== rows) return ERROR_VALUE;
  const valid = scratch(SCRATCH_VALID, <usize>count + 8);
  const values = scratch(SCRATCH_VALUES, <usize>count * 8 + 8);
  if (valid === 0 || values === 0) return ERROR_TOO_LARGE;
  let error = decodeBits(<u32>count, valid);
  if (error < 0) return error;
  let present: u32 = 0;
  for (let i = 0; i < count; i++) present += <u32>load<u8>(valid + <usize>i);
  const type = column.type;
  if (type === TYPE_BOOLEAN) error = decodeBits(present, values);
  else if (type === TYPE_FLOAT) error = decodeFloats(present, values);
  else if (type === TYPE_STRING) error = decodeStrings(present);
  else error = decodeInts(present, values);
  if (error < 0) return error;
  if (at !== end) return ERROR_VALUE;
  const width = widthOfType(type);
  let next: u32 = 0;
  let row = table.rowCount - rows;
  for (let i: u32 = 0; i < rows; i++, row++) {
    if (load<u8>(valid + <usize>i) === 0) continue;
    const page = pageOfRow(row);
    const address = columnPage(table, column, page);
    if (address === 0) return ERROR_TOO_LARGE;
    const index = <usize>(row - pageStartOf(page));
    if (type === TYPE_BOOLEAN) {
      store<u8>(address + index, load<u8>(values + <usize>next));
    } else {
      const bits = type === TYPE_STRING ? appendText(table, next) : load<u64>(values + <usize>next * 8);
      if (type === TYPE_STRING && bits === u64.MAX_VALUE) return ERROR_TOO_LARGE;
      store<u64>(address + index * 8, bits);
    }
    store<u8>(address + <usize>pageRowsOf(page) * width + index, 1);
    next++;
  }
  return <i32>present;
}
