// The table of series: finds the dense id of a canonical key, and the key of an id. An entry takes
// its key, 10 bytes more, and 4 bytes per slot. series-guess.ts finds ids by the texts of clients
// without a look-up here.
import { ERROR_TOO_LARGE, ERROR_TRUNCATED, ERROR_VALUE, NO_ID } from './abi.gen';
import { copyText, LOOSE_BYTES, sameBytes } from './bytes';
import { hashBytes } from './hash';
import { allocatePages, allocateZeros, freePages } from './memory';
import {
  fillSlots,
  findInSlots,
  finishGrowth,
  makeSlots,
  NO_HASH,
  placeInSlot,
  removeFromSlots,
  reserveSlot,
  slotBytes,
  SlotTable,
  truncateSlots,
  waitForSlot,
} from './slots';
import { measurementNameLength } from './names';

export const NO_SERIES: u32 = NO_ID;
/** All ids are smaller. */
export const SERIES_MAX: u32 = 0x80000000;

const tableRecord: usize = memory.data(offsetof<SlotTable>(), 8);
/** Number of series that are not deleted. */
let undeleted: u32 = 0;
let nextId: u32 = 0;

// Addresses of entries (measurement u32, length u16, bytes) by id; 0 without series. They are in
// pages, which a directory lists: ids are never reused, and a page without series takes no memory.
// The highest bit of the measurement marks a series that its key does not find any more.
const DELETED: u32 = 0x80000000;
const PAGE_BITS: u32 = 14;
const PAGE_IDS: u32 = 1 << PAGE_BITS;
const PAGE_BYTES: usize = 65536;
let pages: usize = 0;
let pageCapacity: u32 = 0;
let pageCount: u32 = 0;
let present: u32 = 0; // number of series with an entry

/** In exported entries, marks a gap of ids without series; the length is their number. */
const NO_OWNER: u32 = u32.MAX_VALUE;
const HOLE_MAX: u32 = 65535;

// Bytes before each key. Keys are in chunks, one after another.
const KEY_HEADER: usize = 6;
const KEY_CHUNK: usize = 262144;
let keyAt: usize = 0;
let keyEnd: usize = 0;
let keyBytes: usize = 0;

@unmanaged
class SeriesTable extends SlotTable {
  @inline
  hasKey(id: u32, key: usize, length: u32): bool {
    const entry = <usize>load<u32>(placeOf(id));
    return <u32>load<u16>(entry, 4) === length && sameBytes(entry + KEY_HEADER, key, <usize>length);
  }
}

@inline
function table(): SeriesTable {
  return changetype<SeriesTable>(tableRecord);
}

export function seriesCount(): u32 {
  return undeleted;
}
export function nextSeriesId(): u32 {
  return nextId;
}
export function setNextSeriesId(id: u32): void {
  if (id > nextId) nextId = id;
}
/** Memory of the table. */
export function seriesMemory(): usize {
  return keyBytes + slotBytes(table()) + <usize>pageCapacity * 4 + <usize>pageCount * PAGE_BYTES;
}
/** Number of series, including those that their keys do not find. */
export function seriesPresent(): u32 {
  return present;
}

@inline
export function hashKey(key: usize, length: usize): u32 {
  return <u32>hashBytes(key, length);
}

/** Where the address of an id's entry is stored. The page must exist. */
@inline
function placeOf(id: u32): usize {
  const page = <usize>load<u32>(pages + <usize>(id >> PAGE_BITS) * 4);
  return page + <usize>(id & (PAGE_IDS - 1)) * 4;
}

@inline
function hasPage(id: u32): bool {
  const page = id >> PAGE_BITS;
  return page < pageCapacity && load<u32>(pages + <usize>page * 4) !== 0;
}

@inline
function entryOf(id: u32): usize {
  return hasPage(id) ? <usize>load<u32>(placeOf(id)) : 0;
}

/** The first id in [id, end) that may have an entry. */
@inline
function skipMissing(id: u32, end: u32): u32 {
  while (id < end && !hasPage(id)) id = (id | (PAGE_IDS - 1)) + 1;
  return id < end ? id : end;
}

/** Whether the id has a key. Deleted series keep theirs. */
@inline
export function seriesExists(id: u32): bool {
  return entryOf(id) !== 0;
}
export function seriesKey(id: u32): usize {
  const entry = entryOf(id);
  return entry === 0 ? 0 : entry + KEY_HEADER;
}
export function seriesKeyLength(id: u32): u32 {
  const entry = entryOf(id);
  return entry === 0 ? 0 : <u32>load<u16>(entry, 4);
}
@inline
export function seriesMeasurement(id: u32): u32 {
  return load<u32>(entryOf(id)) & ~DELETED;
}
@inline
export function isDeleted(id: u32): bool {
  return (load<u32>(entryOf(id)) & DELETED) !== 0;
}

export function findSeries(key: usize, length: u32, hash: u32): u32 {
  placeAll();
  if (table().slotCount === 0) return NO_SERIES;
  return findInSlots<SeriesTable>(table(), key, length, hash);
}

/** Hash of a series, unless it is deleted. */
function hashOfSeries(context: usize, id: u32): u64 {
  const entry = entryOf(id);
  if (entry === 0 || (load<u32>(entry) & DELETED) !== 0) return NO_HASH;
  return <u64>hashKey(entry + KEY_HEADER, <usize>load<u16>(entry, 4));
}

@inline
function placeEntry(id: u32, entry: usize): void {
  if (waitForSlot(hashKey(entry + KEY_HEADER, <usize>load<u16>(entry, 4)), id)) fillSlots(table());
}

/** Whether one more series, with this id, fits into the slots; makes room if necessary. */
@inline
function reserve(id: u32): bool {
  return reserveSlot(table(), max(id, nextId), undeleted, hashOfSeries, 0);
}

/** Creates the page of an id, and space for it in the directory. */
function reserveEntry(id: u32): bool {
  if (hasPage(id)) return true;
  const page = id >> PAGE_BITS;
  if (page >= pageCapacity) {
    let capacity: u32 = pageCapacity === 0 ? 16384 : pageCapacity;
    while (capacity <= page) capacity <<= 1;
    const address = allocateZeros(<usize>capacity * 4);
    if (address === 0) return false;
    memory.copy(address, pages, <usize>pageCapacity * 4);
    if (pageCapacity > 0) freePages(pages, <usize>pageCapacity * 4);
    pages = address;
    pageCapacity = capacity;
  }
  const address = allocateZeros(PAGE_BYTES);
  if (address === 0) return false;
  store<u32>(pages + <usize>page * 4, <u32>address);
  pageCount++;
  return true;
}

/**
 * Adds a series, whose key must be new, with the given id. Returns false when memory is exhausted.
 */
export function addSeries(key: usize, length: u32, hash: u32, measurement: u32, id: u32): bool {
  placeAll();
  if (!reserve(id)) return false;
  if (!reserveEntry(id)) return false;
  const size = KEY_HEADER + <usize>length;
  if (keyAt + size > keyEnd) {
    keyAt = allocatePages(KEY_CHUNK);
    if (keyAt === 0) {
      keyEnd = 0;
      return false;
    }
    keyEnd = keyAt + KEY_CHUNK;
    keyBytes += KEY_CHUNK;
  }
  store<u32>(keyAt, measurement);
  store<u16>(keyAt, <u16>length, 4);
  if (keyAt + size + LOOSE_BYTES <= keyEnd) copyText(keyAt + KEY_HEADER, key, <usize>length);
  else memory.copy(keyAt + KEY_HEADER, key, <usize>length);
  store<u32>(placeOf(id), <u32>keyAt);
  present++;
  keyAt += size;
  placeInSlot(table(), hash, id);
  undeleted++;
  if (id >= nextId) nextId = id + 1;
  return true;
}

/** Makes the key not find the series any more. The id still finds the key. */
export function deleteSeries(id: u32): void {
  const entry = entryOf(id);
  if (entry === 0 || isDeleted(id)) return;
  if (id >= pendingFrom && id < pendingEnd) {
    // The series is not in slots yet; the mark keeps it out of them.
    store<u32>(entry, load<u32>(entry) | DELETED);
    return;
  }
  const hash = hashKey(entry + KEY_HEADER, <usize>load<u16>(entry, 4));
  removeFromSlots(table(), hash, id);
  store<u32>(entry, load<u32>(entry) | DELETED);
  undeleted--;
}

/**
 * Undoes `deleteSeries`. Returns false when the key finds another series by now, or when memory is
 * exhausted.
 */
export function undeleteSeries(id: u32): bool {
  const entry = entryOf(id);
  if (entry === 0) return false;
  if (!isDeleted(id)) return true;
  const length = <u32>load<u16>(entry, 4);
  const hash = hashKey(entry + KEY_HEADER, <usize>length);
  if (findSeries(entry + KEY_HEADER, length, hash) !== NO_SERIES) return false;
  // The series gets a slot now, and growing must not give it another one later. This is rare: a
  // delete is undone.
  finishGrowth(table(), nextId, hashOfSeries, 0);
  if (!reserve(id)) return false;
  finishGrowth(table(), nextId, hashOfSeries, 0);
  store<u32>(entry, load<u32>(entry) & ~DELETED);
  placeInSlot(table(), hash, id);
  undeleted++;
  return true;
}

/** Removes a series and its key. */
function removeSeries(id: u32): void {
  if (entryOf(id) === 0) return;
  deleteSeries(id);
  store<u32>(placeOf(id), 0);
  present--;
}

/**
 * Removes the series from `first` on, newest first; their ids will be assigned again. Called by
 * series-guess.ts only.
 */
export function truncateTable(first: u32): void {
  if (nextId <= first) return;
  while (nextId > first) removeSeries(--nextId);
  truncateSlots(table(), first);
}

/** Loads `count` ids with entries at `src`, which `exportSeries` wrote. Returns 0 or an error. */
export function loadSeriesEntries(src: usize, bytes: usize, count: u32, measurements: u32): i32 {
  if (nextId !== 0) return ERROR_VALUE;
  const end = src + bytes;
  let at = src;
  let id: u32 = 0;
  while (id < count) {
    if (at + KEY_HEADER > end) return ERROR_TRUNCATED;
    const length = <u32>load<u16>(at, 4);
    if (load<u32>(at) === NO_OWNER) {
      if (length === 0 || length > count - id) return ERROR_VALUE;
      id += length;
      at += KEY_HEADER;
      continue;
    }
    const owner = load<u32>(at) & ~DELETED;
    if (owner >= measurements || length < measurementNameLength(owner)) return ERROR_VALUE;
    if (!reserveEntry(id)) return ERROR_TOO_LARGE;
    store<u32>(placeOf(id), <u32>at);
    present++;
    id++;
    at += KEY_HEADER + <usize>length;
  }
  if (at !== end) return ERROR_VALUE;
  nextId = count;
  pendingEnd = count;
  keyBytes += bytes;
  return 0;
}

// Series [pendingFrom, pendingEnd) are loaded but not in slots: putting a million there takes a
// tenth of a second, and reading by id does not need it.
let pendingFrom: u32 = 0;
let pendingEnd: u32 = 0;

/**
 * Puts up to `count` loaded series into slots. Returns how many are left. Of two with the same key,
 * the later one is found.
 */
export function placeSeries(count: u32): u32 {
  if (pendingFrom === pendingEnd) return 0;
  if (pendingFrom === 0) {
    undeleted = present;
    if (!makeSlots(table(), undeleted, pendingEnd)) unreachable();
  }
  const end = count < pendingEnd - pendingFrom ? pendingFrom + count : pendingEnd;
  for (let id = pendingFrom; id < end; id++) {
    const entry = entryOf(id);
    if (entry === 0) continue;
    if (isDeleted(id)) {
      undeleted--;
      continue;
    }
    placeEntry(id, entry);
  }
  fillSlots(table());
  pendingFrom = end;
  return pendingEnd - end;
}

@inline
function placeAll(): void {
  if (pendingFrom !== pendingEnd) placeSeries(u32.MAX_VALUE);
}

/**
 * Copies entries of ids from `first` on to `dst`, as many of [first, end) as fit in `room`. Returns
 * the id after the last one.
 */
export function exportSeries(first: u32, end: u32, dst: usize, room: usize): u32 {
  let out = dst;
  let id = first;
  while (id < end && out + KEY_HEADER <= dst + room) {
    const entry = entryOf(id);
    if (entry === 0) {
      const next = nextPresent(id, min(end, id + HOLE_MAX));
      store<u32>(out, NO_OWNER);
      store<u16>(out, <u16>(next - id), 4);
      out += KEY_HEADER;
      id = next;
      continue;
    }
    const size = KEY_HEADER + <usize>load<u16>(entry, 4);
    if (out + size > dst + room) break;
    memory.copy(out, entry, size);
    out += size;
    id++;
  }
  exported = out - dst;
  return id;
}

/** The first id in [id, end) that has a series; `end` if none has. */
export function nextPresent(id: u32, end: u32): u32 {
  let next = skipMissing(id, end);
  while (next < end && entryOf(next) === 0) next = skipMissing(next + 1, end);
  return next;
}

let exported: usize = 0;
/** Size of the output of `exportSeries`. */
export function exportedSeriesBytes(): usize {
  return exported;
}
