// Reads plain lines into rows for tasks. Series are found by the bytes of measurement and tags.
// Fields are expected in the order of the block, so that names are compared, not looked up. Lines
// with other fields, escapes, long numbers or unknown series are left to the caller.
//
// Values are in one column per field, eight bytes each: doubles, 64-bit integers, booleans as
// integers, strings as start and end in the body.
//
// New series nearly always differ from the last one in tag values only. The bytes between the
// values are compared, and the values are collected, so that the caller takes those of a whole
// write at once.
import {
  EXPECTED_KEY_MAX,
  ROWS_END,
  ROWS_FULL,
  ROWS_NEW_SERIES,
  ROWS_NO_MEMORY,
  ROWS_OTHER,
  ROW_BOOLEAN,
  ROW_FLOAT,
  ROW_INTEGER,
  TYPE_FLOAT,
  TYPE_INTEGER,
} from './abi.gen';
import { body, bodyEnd, openBody } from './body';
import { hashBytes } from './hash';
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
import { sameBytes } from './bytes';
import { clearSlots, findInSlots, placeInSlot, reserveSlot, SlotTable } from './slots';

const SPACE: u32 = 32;
const QUOTE: u32 = 34;
const EQUALS: u32 = 61;
const BACKSLASH: u32 = 92;

let cursor: usize = 0;

// The block: address, length and kind of each field's name. Names end with `=` and are padded to
// words.
let fields: usize = 0;
let fieldCount: i32 = 0;

let rowCount: u32 = 0;
let rowCapacity: u32 = 0;
/**
 * Times of the rows (8 bytes each); the columns follow, then for each row the index of its series
 * in this write (4 bytes each).
 */
let times: usize = 0;
let columns: usize = 0;
let seriesOfRow: usize = 0;

@unmanaged
class Entry {
  hash: u32;
  /** Offset in `keys`. */
  key: u32;
  length: u32;
  /** The last write with the series, and its index there. */
  write: u32;
  index: u32;
  /** The entry that followed this one last, plus one; 0 for none. */
  next: u32;
}

@unmanaged
class RowSeries extends SlotTable {
  @inline
  hasKey(id: u32, key: usize, length: u32): bool {
    const entry = entryAt(id);
    return entry.length === length && sameBytes(keys + <usize>entry.key, key, <usize>length);
  }
}

const seriesRecord: usize = memory.data(offsetof<SlotTable>(), 8);
let entries: usize = 0;
let entryCapacity: u32 = 0;
let entryCount: u32 = 0;
let keys: usize = 0;
let keyCapacity: usize = 0;
let keyBytes: usize = 0;
let write: u32 = 0;
/** Entries in the order of their first rows in this write. */
let writeEntries: usize = 0;
let writeEntryCapacity: u32 = 0;
let writeEntryCount: u32 = 0;

/** The series of the last line; -1 when it is unknown. */
let lastEntry: i32 = -1;

// The expected shape of new keys: address and length (4 bytes each) of the bytes before each value.
let shape: usize = 0;
let shapeParts: i32 = 0;
// Tag values of new series in this write: their bytes, and the end of each (4 bytes).
let values: usize = 0;
let valueBytes: usize = 0;
let valueByteCapacity: usize = 0;
let valueEnds: usize = 0;
let valueCount: u32 = 0;
let valueCapacity: u32 = 0;

let keyStart: usize = 0;
let keyEnd: usize = 0;

export function getRowCount(): u32 {
  return rowCount;
}
export function getRowCursor(): usize {
  return cursor - body;
}
export function setRowCursor(position: usize): void {
  cursor = body + position;
}
export function getRowKeyStart(): usize {
  return keyStart - body;
}
export function getRowKeyEnd(): usize {
  return keyEnd - body;
}
export function getRowTimes(): usize {
  return times;
}
export function getRowSeries(): usize {
  return seriesOfRow;
}
export function getRowColumn(field: i32): usize {
  return columns + <usize>field * <usize>rowCapacity * 8;
}
export function getWriteSeriesCount(): u32 {
  return writeEntryCount;
}
export function getWriteSeries(): usize {
  return writeEntries;
}
export function getRowSeriesCount(): u32 {
  return entryCount;
}
export function getRowValues(): usize {
  return values;
}
export function getRowValueBytes(): usize {
  return valueBytes;
}
export function getRowValueEnds(): usize {
  return valueEnds;
}
export function getRowValueCount(): u32 {
  return valueCount;
}

/** Sets the body, as `openBody`. Begins a write: indexes of series start at 0. */
export function openRows(address: usize, bytes: usize): void {
  openBody(address, bytes);
  cursor = body;
  rowCount = 0;
  write++;
  writeEntryCount = 0;
}

/** Bytes of a block with `count` fields, `names` bytes of names, and `capacity` rows. */
export function rowBlockBytes(count: i32, names: usize, capacity: u32): usize {
  return namesBytes(count, names) + <usize>capacity * (12 + <usize>count * 8) + 8;
}

/** Bytes of the fields and their names, padded so that comparing whole words stays inside. */
function namesBytes(count: i32, names: usize): usize {
  return (<usize>count * 12 + names + 16 + 7) & ~7;
}

/** Begins a block at `block`. Returns the address for the names. All rows must have been taken. */
export function beginRowBlock(block: usize, count: i32, names: usize, capacity: u32): usize {
  fieldCount = count;
  rowCount = 0;
  rowCapacity = capacity;
  fields = block;
  times = block + namesBytes(count, names);
  columns = times + <usize>capacity * 8;
  seriesOfRow = columns + <usize>capacity * <usize>count * 8;
  return fields + <usize>count * 12;
}

/** Sets the name of a field, which the loader has written to `name`. */
export function setRowField(field: i32, name: usize, length: u32, kind: u32): void {
  const at = fields + <usize>field * 12;
  store<u32>(at, <u32>name);
  store<u32>(at, length, 4);
  store<u32>(at, kind, 8);
}

/** Empties the columns, after the rows have been copied. */
export function takeRows(): void {
  rowCount = 0;
}

/** Removes all series. */
export function clearRowSeries(): void {
  clearSlots(series());
  entryCount = 0;
  keyBytes = 0;
  lastEntry = -1;
  shapeParts = 0;
  takeRowValues();
}

/** Removes the values, after they have been copied. */
export function takeRowValues(): void {
  valueBytes = 0;
  valueCount = 0;
}

/** Bytes of a shape with `parts` parts and `bytes` bytes of text. */
export function rowShapeBytes(parts: i32, bytes: usize): usize {
  return <usize>parts * 8 + bytes;
}

/** Begins a shape of `parts` parts at `address`. Returns the address for their bytes. */
export function beginRowShape(address: usize, parts: i32): usize {
  shape = address;
  shapeParts = parts;
  return shape + <usize>parts * 8;
}

/** Sets a part, the bytes before a value, which the loader has written to `address`. */
export function setRowShapePart(part: i32, address: usize, length: u32): void {
  const at = shape + <usize>part * 8;
  store<u32>(at, <u32>address);
  store<u32>(at, length, 4);
}

function grown(address: usize, bytes: usize, larger: usize): usize {
  const moved = allocatePages(larger);
  if (moved === 0) return 0;
  if (address !== 0) {
    memory.copy(moved, address, bytes);
    freePages(address, bytes);
  }
  return moved;
}

@inline
function series(): RowSeries {
  return changetype<RowSeries>(seriesRecord);
}

@inline
function entryAt(id: u32): Entry {
  return changetype<Entry>(entries + <usize>id * offsetof<Entry>());
}

function hashOfEntry(_context: usize, id: u32): u64 {
  return <u64>entryAt(id).hash;
}

/** The entry of the key [start, end) with this hash, or -1. */
@inline
function find(start: usize, end: usize, hash: u32): i32 {
  if (series().slotCount === 0) return -1;
  // `NO_ID` is -1.
  return <i32>findInSlots<RowSeries>(series(), start, <u32>(end - start), hash);
}

/**
 * The series that followed the last one the time before, if the line at the cursor begins with its
 * key; otherwise -1. Clients send their series in the same order again and again. Comparing the key
 * is faster than finding its end and hashing it, and with 50,000 series each look-up misses the
 * processor's caches.
 */
@inline
function guess(): i32 {
  if (lastEntry < 0) return -1;
  const next = entryAt(<u32>lastEntry).next;
  if (next === 0) return -1;
  const entry = entryAt(next - 1);
  const length = <usize>entry.length;
  // A longer key has no space here, because plain keys have none.
  if (cursor + length >= bodyEnd || load<u8>(cursor + length) !== 32) return -1;
  return sameBytes(cursor, keys + <usize>entry.key, length) ? <i32>(next - 1) : -1;
}

/** Index of an entry in this write; -1 when memory is exhausted. */
@inline
function indexInWrite(id: i32): i32 {
  const entry = entryAt(<u32>id);
  if (entry.write === write) return <i32>entry.index;
  if (writeEntryCount === writeEntryCapacity) {
    const count: u32 = writeEntryCapacity === 0 ? 16384 : writeEntryCapacity * 2;
    const larger = grown(writeEntries, <usize>writeEntryCapacity * 4, <usize>count * 4);
    if (larger === 0) return -1;
    writeEntries = larger;
    writeEntryCapacity = count;
  }
  const index = writeEntryCount++;
  store<u32>(writeEntries + <usize>index * 4, <u32>id);
  entry.write = write;
  entry.index = index;
  return <i32>index;
}

/** Index in this write of the series with the key body[start, end); -1 when it is unknown. */
export function rowSeriesIndex(start: usize, end: usize): i32 {
  const from = body + start;
  const to = body + end;
  const entry = find(from, to, <u32>hashBytes(from, to - from));
  return entry < 0 ? -1 : indexInWrite(entry);
}

/**
 * Adds a series with the key body[start, end). Returns its number, or -1 when memory is exhausted.
 */
export function addRowSeries(start: usize, end: usize): i32 {
  const from = body + start;
  return addEntry(from, end - start, <u32>hashBytes(from, end - start));
}

/**
 * As `addRowSeries`, if the key has the expected shape. Otherwise returns -1, and -2 when memory is
 * exhausted.
 */
export function readRowSeries(start: usize, end: usize): i32 {
  const from = body + start;
  return addExpected(from, body + end, <u32>hashBytes(from, end - start));
}

/**
 * Adds a series whose key has the expected shape, and its values. Returns what `readRowSeries`
 * does.
 */
function addExpected(start: usize, end: usize, hash: u32): i32 {
  if (shapeParts === 0 || end - start > <usize>EXPECTED_KEY_MAX) return -1;
  if (!reserveValues(end - start)) return -2;
  let at = start;
  let to = valueBytes;
  for (let part = 0; part < shapeParts; part++) {
    const expected = shape + <usize>part * 8;
    const length = <usize>load<u32>(expected, 4);
    if (end - at <= length || !sameBytes(at, <usize>load<u32>(expected), length)) return -1;
    at += length;
    const from = to;
    while (at < end) {
      const byte = <u32>load<u8>(at);
      if (byte === 44) break;
      // Only ASCII: the caller finds values in a text by their positions in bytes.
      if (byte === EQUALS || byte >= 127 || !isPlain(byte)) return -1;
      store<u8>(values + to, byte);
      at++;
      to++;
    }
    if (to === from) return -1;
    store<u32>(valueEnds + (<usize>valueCount + <usize>part) * 4, <u32>to);
  }
  if (at !== end) return -1;
  const entry = addEntry(start, end - start, hash);
  if (entry < 0) return -2;
  valueBytes = to;
  valueCount += shapeParts;
  return entry;
}

/** Makes room for the values of a key of `bytes` bytes. Returns false when memory is exhausted. */
function reserveValues(bytes: usize): bool {
  if (valueBytes + bytes > valueByteCapacity) {
    const wanted = max(valueByteCapacity * 2, valueBytes + bytes + 65536);
    const larger = grown(values, valueByteCapacity, wanted);
    if (larger === 0) return false;
    values = larger;
    valueByteCapacity = wanted;
  }
  if (valueCount + shapeParts > valueCapacity) {
    const wanted = max(valueCapacity * 2, valueCount + shapeParts + 16384);
    const larger = grown(valueEnds, <usize>valueCapacity * 4, <usize>wanted * 4);
    if (larger === 0) return false;
    valueEnds = larger;
    valueCapacity = wanted;
  }
  return true;
}

function addEntry(start: usize, length: usize, hash: u32): i32 {
  if (!reserveSlot(series(), entryCount, entryCount, hashOfEntry, 0)) return -1;
  if (entryCount === entryCapacity) {
    const count: u32 = entryCapacity === 0 ? 2048 : entryCapacity * 2;
    const larger = grown(
      entries,
      <usize>entryCapacity * offsetof<Entry>(),
      <usize>count * offsetof<Entry>(),
    );
    if (larger === 0) return -1;
    entries = larger;
    entryCapacity = count;
  }
  // Comparisons read whole words.
  if (keyBytes + length + 8 > keyCapacity) {
    const wanted = max(keyCapacity * 2, keyBytes + length + 65536);
    const larger = grown(keys, keyCapacity, wanted);
    if (larger === 0) return -1;
    keys = larger;
    keyCapacity = wanted;
  }
  const id = entryCount++;
  placeInSlot(series(), hash, id);
  const entry = entryAt(id);
  entry.hash = hash;
  entry.key = <u32>keyBytes;
  entry.length = <u32>length;
  entry.write = 0;
  entry.next = 0;
  memory.copy(keys + keyBytes, start, length);
  keyBytes += length;
  return <i32>id;
}

/**
 * Reads the fields at `p` into the row. Returns their end; 0 if they are not those of the block.
 */
@inline
function scanFields(start: usize): usize {
  let p = start;
  const last = fieldCount - 1;
  const step = <usize>rowCapacity * 8;
  let cell = columns + <usize>rowCount * 8;
  for (let f = 0; f <= last; f++) {
    const field = fields + <usize>f * 12;
    const length = <usize>load<u32>(field, 4);
    if (!sameBytes(p, <usize>load<u32>(field), length)) return 0;
    p += length;
    const kind = load<u32>(field, 8);
    const value = p;
    if (kind <= ROW_INTEGER) {
      p = scanNumber(p);
      if (p === 0) return 0;
      if (numberType !== (kind === ROW_FLOAT ? TYPE_FLOAT : TYPE_INTEGER)) return 0;
      store<u64>(cell, numberBits);
    } else if (kind === ROW_BOOLEAN) {
      p = scanBoolean(p);
      if (p === 0) return 0;
      store<u64>(cell, booleanBits);
    } else {
      if (load<u8>(p) !== QUOTE) return 0;
      p = quotedEnd(p);
      if (p === 0 || hasEscapes) return 0;
      store<u32>(cell, <u32>(value + 1 - body));
      store<u32>(cell, <u32>(p++ - body), 4);
    }
    cell += step;
    const next = <u32>load<u8>(p);
    if (f < last) {
      if (next !== 44) return 0;
      p++;
    } else if (next !== 32 && next !== 10) return 0;
  }
  return p;
}

/** Keys with quotes, escapes or control characters are left to the caller. */
@inline
function isPlain(byte: u32): bool {
  return byte > SPACE && byte !== QUOTE && byte !== BACKSLASH;
}

function isPlainKey(start: usize, end: usize): bool {
  for (let p = start; p < end; p++) if (!isPlain(<u32>load<u8>(p))) return false;
  return end > start;
}

/** Offset of the space after the key at the cursor; 0 if the key is not plain. */
export function plainKeyEnd(): usize {
  const end = sectionEnd(cursor);
  return end !== 0 && isPlainKey(cursor, end) ? end - body : 0;
}

/** Reads lines at the cursor until one has to be left to the caller. */
export function runRows(): i32 {
  while (cursor < bodyEnd) {
    let p = cursor;
    if (load<u8>(p) === 10) {
      cursor++;
      continue;
    }
    if (rowCount === rowCapacity) return ROWS_FULL;
    let entry = guess();
    if (entry >= 0) p += <usize>entryAt(<u32>entry).length;
    else {
      p = sectionEnd(p);
      if (p === 0) return ROWS_OTHER;
      const hash = <u32>hashBytes(cursor, p - cursor);
      entry = find(cursor, p, hash);
      if (entry < 0) entry = addExpected(cursor, p, hash);
      if (entry < 0) {
        if (!isPlainKey(cursor, p)) return ROWS_OTHER;
        if (entry === -2) return ROWS_NO_MEMORY;
        keyStart = cursor;
        keyEnd = p;
        return ROWS_NEW_SERIES;
      }
      if (lastEntry >= 0) entryAt(<u32>lastEntry).next = <u32>entry + 1;
    }
    const fieldsEnd = scanFields(p + 1);
    if (fieldsEnd === 0) return ROWS_OTHER;
    const end = scanLineEnd(fieldsEnd);
    if (end === 0) return ROWS_OTHER;
    const index = indexInWrite(entry);
    if (index < 0) return ROWS_NO_MEMORY;
    store<i64>(times + <usize>rowCount * 8, lineTime);
    store<u32>(seriesOfRow + <usize>rowCount * 4, <u32>index);
    rowCount++;
    lastEntry = entry;
    cursor = end + 1;
  }
  return ROWS_END;
}
