// Rows of plain lines for tasks: series found by the bytes of measurement and tags, and the fields
// of a line read as those of the line before, so that names are compared and not looked up.
// Whatever is not plain (other fields, escapes, long numbers, unknown series) is left to the
// caller, line by line.
//
// Values lie in one column per field, eight bytes each: doubles, 64-bit integers, booleans as
// integers, strings as start and end within the body.
//
// New series are nearly always spelled as the one before them: the bytes between the values of
// their tags are compared, and the values are put behind each other, from where the caller takes
// those of a whole write at once.
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
import { allocateRun, freeRun } from './memory';
import { numberBits, numberType, scanNumber } from './number';
import { sameBytes } from './symbols';

const SPACE: u32 = 32;
const QUOTE: u32 = 34;
const EQUALS: u32 = 61;
const BACKSLASH: u32 = 92;

let cursor: usize = 0;

// The block: per field the address of its name, its length and its kind; names with their `=`,
// padded to words.
let fields: usize = 0;
let fieldCount: i32 = 0;

let rowCount: u32 = 0;
let rowCapacity: u32 = 0;
/** Per row: time (8 bytes); behind them the columns; then indexes of series in this write (4). */
let times: usize = 0;
let columns: usize = 0;
let seriesOfRow: usize = 0;

// Series: an open hash table of entries; an entry is hash u64, key address u32 (from `keys`),
// length u32, the write that saw it last u32, its index in that write u32, and one more than the
// entry that followed it last u32, 0 when none did.
const ENTRY: usize = 32;
let seed: u64 = 0;
let slots: usize = 0;
let slotCount: u32 = 0;
let entries: usize = 0;
let entryCapacity: u32 = 0;
let entryCount: u32 = 0;
let keys: usize = 0;
let keyCapacity: usize = 0;
let keyBytes: usize = 0;
let write: u32 = 0;
/** Entries in the order in which this write brought them. */
let writeEntries: usize = 0;
let writeEntryCapacity: u32 = 0;
let writeEntryCount: u32 = 0;

/** The series of the line before; -1 when it is not known. */
let lastEntry: i32 = -1;

// The expected shape of new keys: what lies before each of the values, as address and length (4
// bytes each).
let shape: usize = 0;
let shapeParts: i32 = 0;
// Values of the series that this write brought: their bytes, and where each of them ends (4 bytes
// each).
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

/** The body lies at `address`, see `openBody`. Series of the last write are forgotten. */
export function openRows(address: usize, bytes: usize): void {
  openBody(address, bytes);
  cursor = body;
  rowCount = 0;
  write++;
  writeEntryCount = 0;
}

/** Room for a block of so many fields with `names` bytes of names, and so many rows. */
export function rowBlockBytes(count: i32, names: usize, capacity: u32): usize {
  return namesBytes(count, names) + <usize>capacity * (12 + <usize>count * 8) + 8;
}

/** What fields and their names take, padded so that comparisons by words stay inside. */
function namesBytes(count: i32, names: usize): usize {
  return (<usize>count * 12 + names + 16 + 7) & ~7;
}

/**
 * Begins a block in the room at `block`; gives where the names are to be put. Rows before it must
 * have been taken.
 */
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

/** The next field: its name begins at `name`, where the loader has written it. */
export function setRowField(field: i32, name: usize, length: u32, kind: u32): void {
  const at = fields + <usize>field * 12;
  store<u32>(at, <u32>name);
  store<u32>(at, length, 4);
  store<u32>(at, kind, 8);
}

/** Rows so far have been taken; the columns are empty again. */
export function takeRows(): void {
  rowCount = 0;
}

/** Forgets all series. `newSeed` keeps clients from choosing keys that collide. */
export function clearRowSeries(newSeed: u64): void {
  seed = newSeed;
  if (slots !== 0) memory.fill(slots, 0, <usize>slotCount * 4);
  entryCount = 0;
  keyBytes = 0;
  lastEntry = -1;
  shapeParts = 0;
  takeRowValues();
}

/** Values of new series have been copied; there are none. */
export function takeRowValues(): void {
  valueBytes = 0;
  valueCount = 0;
}

/** Room for a shape of so many parts with `bytes` of text. */
export function rowShapeBytes(parts: i32, bytes: usize): usize {
  return <usize>parts * 8 + bytes;
}

/**
 * The shape of the keys to come, of so many parts, in the room at `address`; gives where their
 * bytes are to be put.
 */
export function beginRowShape(address: usize, parts: i32): usize {
  shape = address;
  shapeParts = parts;
  return shape + <usize>parts * 8;
}

/** What lies before a value, where the loader has written it. */
export function setRowShapePart(part: i32, address: usize, length: u32): void {
  const at = shape + <usize>part * 8;
  store<u32>(at, <u32>address);
  store<u32>(at, length, 4);
}

function grown(address: usize, bytes: usize, larger: usize): usize {
  const moved = allocateRun(larger);
  if (moved === 0) return 0;
  if (address !== 0) {
    memory.copy(moved, address, bytes);
    freeRun(address, bytes);
  }
  return moved;
}

function growSlots(): bool {
  const count: u32 = slotCount === 0 ? 4096 : slotCount * 2;
  const larger = allocateRun(<usize>count * 4);
  if (larger === 0) return false;
  memory.fill(larger, 0, <usize>count * 4);
  const mask = count - 1;
  for (let entry: u32 = 0; entry < entryCount; entry++) {
    let slot = <u32>load<u64>(entries + <usize>entry * ENTRY) & mask;
    while (load<u32>(larger + <usize>slot * 4) !== 0) slot = (slot + 1) & mask;
    store<u32>(larger + <usize>slot * 4, entry + 1);
  }
  if (slots !== 0) freeRun(slots, <usize>slotCount * 4);
  slots = larger;
  slotCount = count;
  return true;
}

/** Entry of the key in [start, end) with this hash, -1 when there is none. */
@inline
function find(start: usize, end: usize, hash: u64): i32 {
  if (slotCount === 0) return -1;
  const length = end - start;
  const mask = slotCount - 1;
  let slot = <u32>hash & mask;
  let found = load<u32>(slots + <usize>slot * 4);
  while (found !== 0) {
    const at = entries + <usize>(found - 1) * ENTRY;
    if (
      load<u64>(at) === hash &&
      load<u32>(at, 12) === <u32>length &&
      sameBytes(keys + <usize>load<u32>(at, 8), start, length)
    ) {
      return <i32>(found - 1);
    }
    slot = (slot + 1) & mask;
    found = load<u32>(slots + <usize>slot * 4);
  }
  return -1;
}

/**
 * The series that followed that of the line before the last time; -1 when the line at the cursor
 * begins with another. Clients send their series in one order again and again: the key is compared
 * then where it would be searched for its end and hashed, and with 50,000 series each look-up in
 * the table misses the processor's caches.
 */
@inline
function guess(): i32 {
  if (lastEntry < 0) return -1;
  const next = load<u32>(entries + <usize>lastEntry * ENTRY, 24);
  if (next === 0) return -1;
  const at = entries + <usize>(next - 1) * ENTRY;
  const length = <usize>load<u32>(at, 12);
  // Behind a key that ends elsewhere there is no blank, and keys have none.
  if (cursor + length >= bodyEnd || load<u8>(cursor + length) !== 32) return -1;
  return sameBytes(cursor, keys + <usize>load<u32>(at, 8), length) ? <i32>(next - 1) : -1;
}

/** Index of an entry among the series of this write; -1 when memory is exhausted. */
@inline
function indexInWrite(entry: i32): i32 {
  const at = entries + <usize>entry * ENTRY;
  if (load<u32>(at, 16) === write) return <i32>load<u32>(at, 20);
  if (writeEntryCount === writeEntryCapacity) {
    const count: u32 = writeEntryCapacity === 0 ? 16384 : writeEntryCapacity * 2;
    const larger = grown(writeEntries, <usize>writeEntryCapacity * 4, <usize>count * 4);
    if (larger === 0) return -1;
    writeEntries = larger;
    writeEntryCapacity = count;
  }
  const index = writeEntryCount++;
  store<u32>(writeEntries + <usize>index * 4, <u32>entry);
  store<u32>(at, write, 16);
  store<u32>(at, index, 20);
  return <i32>index;
}

/**
 * Index in this write of the series whose key is body[start, end); -1 when it is not in the table.
 */
export function rowSeriesIndex(start: usize, end: usize): i32 {
  const from = body + start;
  const to = body + end;
  const entry = find(from, to, hashBytes(from, to - from, seed));
  return entry < 0 ? -1 : indexInWrite(entry);
}

/**
 * Adds the series with the key body[start, end); the entry's number, -1 when memory is exhausted.
 */
export function addRowSeries(start: usize, end: usize): i32 {
  const from = body + start;
  return addEntry(from, end - start, hashBytes(from, end - start, seed));
}

/**
 * As `addRowSeries` when the key has the expected shape; -1 when it has not, -2 when memory is
 * exhausted.
 */
export function readRowSeries(start: usize, end: usize): i32 {
  const from = body + start;
  return addExpected(from, body + end, hashBytes(from, end - start, seed));
}

/**
 * Adds the series with a key of the expected shape and takes its values; results as those of
 * `readRowSeries`.
 */
function addExpected(start: usize, end: usize, hash: u64): i32 {
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
      // Of texts that are not ASCII, places in bytes are not those of characters.
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

/** Room for the values of one more key of so many bytes. False without memory. */
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

function addEntry(start: usize, length: usize, hash: u64): i32 {
  if (entryCount * 2 >= slotCount && !growSlots()) return -1;
  if (entryCount === entryCapacity) {
    const count: u32 = entryCapacity === 0 ? 2048 : entryCapacity * 2;
    const larger = grown(entries, <usize>entryCapacity * ENTRY, <usize>count * ENTRY);
    if (larger === 0) return -1;
    entries = larger;
    entryCapacity = count;
  }
  // Comparisons load whole words.
  if (keyBytes + length + 8 > keyCapacity) {
    const wanted = max(keyCapacity * 2, keyBytes + length + 65536);
    const larger = grown(keys, keyCapacity, wanted);
    if (larger === 0) return -1;
    keys = larger;
    keyCapacity = wanted;
  }
  const mask = slotCount - 1;
  let slot = <u32>hash & mask;
  while (load<u32>(slots + <usize>slot * 4) !== 0) slot = (slot + 1) & mask;
  const entry = entryCount++;
  store<u32>(slots + <usize>slot * 4, entry + 1);
  const at = entries + <usize>entry * ENTRY;
  store<u64>(at, hash);
  store<u32>(at, <u32>keyBytes, 8);
  store<u32>(at, <u32>length, 12);
  store<u32>(at, 0, 16);
  store<u32>(at, 0, 24);
  memory.copy(keys + keyBytes, start, length);
  keyBytes += length;
  return <i32>entry;
}

/** Reads the fields at `p` into the row; where they end, 0 when they are others. */
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

/** Quotes, escapes and control characters in keys are left to the caller. */
@inline
function isPlain(byte: u32): bool {
  return byte > SPACE && byte !== QUOTE && byte !== BACKSLASH;
}

function isPlainKey(start: usize, end: usize): bool {
  for (let p = start; p < end; p++) if (!isPlain(<u32>load<u8>(p))) return false;
  return end > start;
}

/** Offset of the blank behind the key at the cursor; 0 when that is not plain. */
export function plainKeyEnd(): usize {
  const end = sectionEnd(cursor);
  return end !== 0 && isPlainKey(cursor, end) ? end - body : 0;
}

/** Reads lines from the cursor on until something needs the caller. */
export function runRows(): i32 {
  while (cursor < bodyEnd) {
    let p = cursor;
    if (load<u8>(p) === 10) {
      cursor++;
      continue;
    }
    if (rowCount === rowCapacity) return ROWS_FULL;
    let entry = guess();
    if (entry >= 0) p += <usize>load<u32>(entries + <usize>entry * ENTRY, 12);
    else {
      p = sectionEnd(p);
      if (p === 0) return ROWS_OTHER;
      const hash = hashBytes(cursor, p - cursor, seed);
      entry = find(cursor, p, hash);
      if (entry < 0) entry = addExpected(cursor, p, hash);
      if (entry < 0) {
        if (!isPlainKey(cursor, p)) return ROWS_OTHER;
        if (entry === -2) return ROWS_NO_MEMORY;
        keyStart = cursor;
        keyEnd = p;
        return ROWS_NEW_SERIES;
      }
      if (lastEntry >= 0) store<u32>(entries + <usize>lastEntry * ENTRY, <u32>entry + 1, 24);
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
