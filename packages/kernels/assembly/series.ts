// The series table: canonical key -> dense id, and back. One entry costs the key, 10 bytes and 4
// bytes per slot. What leads from the text that clients send (tags in their order) to the id
// without a look-up: series-guess.ts.
import { ERROR_TOO_LARGE, ERROR_TRUNCATED, ERROR_VALUE, NO_ID } from './abi.gen';
import { copyText, LOOSE_BYTES } from './bytes';
import { hashBytes } from './hash';
import { allocateRun, freeRun } from './memory';
import {
  fillSlots,
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
import { measurementNameLength, sameBytes } from './symbols';

export const NO_SERIES: u32 = NO_ID;
/** Ids are kept below. */
export const SERIES_MAX: u32 = 0x80000000;

const tableRecord: usize = memory.data(offsetof<SlotTable>(), 8);
let alive: u32 = 0;
let nextId: u32 = 0;
let seed: u64 = 0;

// Id -> address of (measurement u32, length u16, bytes); 0 where there is no series. In pages, and
// a directory of them: ids are never used again, and a page of which no series is left takes
// nothing. The highest bit of the measurement says that the key does not lead to the id any more.
const FORGOTTEN: u32 = 0x80000000;
const PAGE_BITS: u32 = 14;
const PAGE_IDS: u32 = 1 << PAGE_BITS;
const PAGE_BYTES: usize = 65536;
let pages: usize = 0;
let pageCapacity: u32 = 0;
let pageCount: u32 = 0;
let present: u32 = 0; // series with an entry

/**
 * Stands in exported entries for ids that have no series: their number takes the place of the
 * length.
 */
const NO_OWNER: u32 = u32.MAX_VALUE;
const HOLE_MAX: u32 = 65535;

// Keys lie in chunks, one after the other.
const KEY_HEADER: usize = 6;
const KEY_CHUNK: usize = 262144;
let keyAt: usize = 0;
let keyEnd: usize = 0;
let keyBytes: usize = 0;

@inline
function table(): SlotTable {
  return changetype<SlotTable>(tableRecord);
}

export function setSeriesSeed(value: u64): void {
  seed = value;
}

export function seriesCount(): u32 {
  return alive;
}
export function nextSeriesId(): u32 {
  return nextId;
}
export function setNextSeriesId(id: u32): void {
  if (id > nextId) nextId = id;
}
/** Bytes that the table holds. */
export function seriesMemory(): usize {
  return keyBytes + slotBytes(table()) + <usize>pageCapacity * 4 + <usize>pageCount * PAGE_BYTES;
}
/** How many ids have a series, whether their keys lead to them or not. */
export function seriesPresent(): u32 {
  return present;
}

@inline
export function hashKey(key: usize, length: usize): u32 {
  return <u32>hashBytes(key, length, seed);
}

/** Where the entry of an id is kept, whose page exists. */
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

/** The first id from `id` on, below `end`, that may have an entry. */
@inline
function skipMissing(id: u32, end: u32): u32 {
  while (id < end && !hasPage(id)) id = (id | (PAGE_IDS - 1)) + 1;
  return id < end ? id : end;
}

/** Whether the id has a key; that of a forgotten series is kept. */
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
  return load<u32>(entryOf(id)) & ~FORGOTTEN;
}
@inline
export function isForgotten(id: u32): bool {
  return (load<u32>(entryOf(id)) & FORGOTTEN) !== 0;
}

export function findSeries(key: usize, length: u32, hash: u32): u32 {
  placeAll();
  const found = findIn(table().slots, table().slotCount, table().idMask, key, length, hash);
  if (found !== NO_SERIES || table().old === 0) return found;
  return findInOld(key, length, hash);
}

/** What is left in the slots that are being replaced; apart, so that `findSeries` stays small. */
function findInOld(key: usize, length: u32, hash: u32): u32 {
  return findIn(table().old, table().oldCount, table().oldMask, key, length, hash);
}

@inline
function findIn(
  slots: usize,
  slotCount: u32,
  idMask: u32,
  key: usize,
  length: u32,
  hash: u32,
): u32 {
  if (slotCount === 0) return NO_SERIES;
  const mask = slotCount - 1;
  let slot = hash & mask;
  while (true) {
    const value = load<u32>(slots + <usize>slot * 4);
    if (value === 0) return NO_SERIES;
    const known = value & idMask;
    // The mask itself stands for a series that was removed.
    if (((value ^ hash) & ~idMask) === 0 && known !== idMask) {
      const entry = <usize>load<u32>(placeOf(known - 1));
      if (
        <u32>load<u16>(entry, 4) === length &&
        sameBytes(entry + KEY_HEADER, key, <usize>length)
      ) {
        return known - 1;
      }
    }
    slot = (slot + 1) & mask;
  }
}

/** Hash of the series of an id, unless its key does not lead to it. */
function hashOfSeries(context: usize, id: u32): u64 {
  const entry = entryOf(id);
  if (entry === 0 || (load<u32>(entry) & FORGOTTEN) !== 0) return NO_HASH;
  return <u64>hashKey(entry + KEY_HEADER, <usize>load<u16>(entry, 4));
}

@inline
function placeEntry(id: u32, entry: usize): void {
  if (waitForSlot(hashKey(entry + KEY_HEADER, <usize>load<u16>(entry, 4)), id)) fillSlots(table());
}

/** Whether there is room for one more series, of this id, in slots or could be made. */
@inline
function reserve(id: u32): bool {
  return reserveSlot(table(), max(id, nextId), alive, hashOfSeries, 0);
}

/** Makes the page of an id, and room for it in the directory. */
function reserveEntry(id: u32): bool {
  if (hasPage(id)) return true;
  const page = id >> PAGE_BITS;
  if (page >= pageCapacity) {
    let capacity: u32 = pageCapacity === 0 ? 16384 : pageCapacity;
    while (capacity <= page) capacity <<= 1;
    const address = allocateRun(<usize>capacity * 4);
    if (address === 0) return false;
    memory.copy(address, pages, <usize>pageCapacity * 4);
    memory.fill(address + <usize>pageCapacity * 4, 0, <usize>(capacity - pageCapacity) * 4);
    if (pageCapacity > 0) freeRun(pages, <usize>pageCapacity * 4);
    pages = address;
    pageCapacity = capacity;
  }
  const address = allocateRun(PAGE_BYTES);
  if (address === 0) return false;
  memory.fill(address, 0, PAGE_BYTES);
  store<u32>(pages + <usize>page * 4, <u32>address);
  pageCount++;
  return true;
}

/** Adds a series that is known to be absent under the given id. False when memory is exhausted. */
export function addSeries(key: usize, length: u32, hash: u32, measurement: u32, id: u32): bool {
  placeAll();
  if (!reserve(id)) return false;
  if (!reserveEntry(id)) return false;
  const size = KEY_HEADER + <usize>length;
  if (keyAt + size > keyEnd) {
    keyAt = allocateRun(KEY_CHUNK);
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
  alive++;
  if (id >= nextId) nextId = id + 1;
  return true;
}

/** The key does not lead to the series any more; who knows the id still finds the key. */
export function forgetSeries(id: u32): void {
  const entry = entryOf(id);
  if (entry === 0 || isForgotten(id)) return;
  if (id >= pendingFrom && id < pendingEnd) {
    // Not in slots yet, and now it will not come into them.
    store<u32>(entry, load<u32>(entry) | FORGOTTEN);
    return;
  }
  const hash = hashKey(entry + KEY_HEADER, <usize>load<u16>(entry, 4));
  removeFromSlots(table(), hash, id);
  store<u32>(entry, load<u32>(entry) | FORGOTTEN);
  alive--;
}

/**
 * Undoes `forgetSeries`. False when the key leads to another series by now, or memory is exhausted.
 */
export function rememberSeries(id: u32): bool {
  const entry = entryOf(id);
  if (entry === 0) return false;
  if (!isForgotten(id)) return true;
  const length = <u32>load<u16>(entry, 4);
  const hash = hashKey(entry + KEY_HEADER, <usize>length);
  if (findSeries(entry + KEY_HEADER, length, hash) !== NO_SERIES) return false;
  // It gets a slot now and must not be moved to another one later. This happens when a delete is
  // taken back.
  finishGrowth(table(), nextId, hashOfSeries, 0);
  if (!reserve(id)) return false;
  finishGrowth(table(), nextId, hashOfSeries, 0);
  store<u32>(entry, load<u32>(entry) & ~FORGOTTEN);
  placeInSlot(table(), hash, id);
  alive++;
  return true;
}

/** Takes a series away with its key. */
function removeSeries(id: u32): void {
  if (entryOf(id) === 0) return;
  forgetSeries(id);
  store<u32>(placeOf(id), 0);
  present--;
}

/**
 * Takes back series from `first` on, newest first: their ids are free again. Called through
 * series-guess.ts.
 */
export function truncateTable(first: u32): void {
  if (nextId <= first) return;
  while (nextId > first) removeSeries(--nextId);
  truncateSlots(table(), first);
}

/**
 * Takes over `count` ids whose entries lie one behind the other at `src`, as `exportSeries` writes
 * them. 0 or an error.
 */
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
    const owner = load<u32>(at) & ~FORGOTTEN;
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

// Series [pendingFrom, pendingEnd) were loaded and are not in slots yet: a million of them takes a
// tenth of a second, which whoever only reads by id need not wait for.
let pendingFrom: u32 = 0;
let pendingEnd: u32 = 0;

/**
 * Puts up to `count` loaded series into slots; how many are left. Of two with one key the later
 * counts.
 */
export function placeSeries(count: u32): u32 {
  if (pendingFrom === pendingEnd) return 0;
  if (pendingFrom === 0) {
    alive = present;
    if (!makeSlots(table(), alive, pendingEnd)) unreachable();
  }
  const end = count < pendingEnd - pendingFrom ? pendingFrom + count : pendingEnd;
  for (let id = pendingFrom; id < end; id++) {
    const entry = entryOf(id);
    if (entry === 0) continue;
    if (isForgotten(id)) {
      alive--;
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
 * Copies entries of ids [first, end) to `dst` while they fit `room`; returns the id behind the last
 * one.
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

/** The first id from `id` on that has a series; `end` when none has. */
export function nextPresent(id: u32, end: u32): u32 {
  let next = skipMissing(id, end);
  while (next < end && entryOf(next) === 0) next = skipMissing(next + 1, end);
  return next;
}

let exported: usize = 0;
/** Bytes that `exportSeries` wrote. */
export function exportedSeriesBytes(): usize {
  return exported;
}
