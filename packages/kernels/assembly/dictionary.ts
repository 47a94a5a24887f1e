// Maps byte strings to dense ids, in the order in which they are added. An entry takes 8 bytes, 4
// bytes per slot, and its bytes, unless these are kept elsewhere anyway.
import { ERROR_TOO_LARGE, ERROR_TRUNCATED, ERROR_VALUE, NO_ID } from './abi.gen';
import { copyText, LOOSE_BYTES, sameBytes } from './bytes';
import { hashBytes } from './hash';
import { allocatePages, freePages } from './memory';
import {
  fillSlots,
  findInSlots,
  makeSlots,
  placeInSlot,
  reserveSlot,
  slotBytes,
  SlotTable,
  waitForSlot,
} from './slots';

export const NO_ENTRY: u32 = NO_ID;
/** Largest size of an entry. */
export const ENTRY_BYTES_MAX: usize = 65535;

/** The length before each entry that is exported. */
const HEADER: usize = 2;
const CHUNK: usize = 262144;

/** Bytes of a place in `entries`. */
const PLACE: usize = 8;

@unmanaged
export class Dictionary extends SlotTable {
  count: u32;
  // Address and length of entries by id, a u32 each.
  entries: usize;
  entryCapacity: u32;
  at: usize;
  end: usize;
  chunkBytes: usize;
  // Number of entries in slots. Loaded entries are put into slots when they are needed, or in
  // portions before.
  placed: u32;

  @inline
  hasKey(id: u32, bytes: usize, length: u32): bool {
    const place = this.entries + <usize>id * PLACE;
    return (
      load<u32>(place, 4) === length && sameBytes(<usize>load<u32>(place), bytes, <usize>length)
    );
  }
}

/** Memory of the dictionary. */
export function dictionaryBytes(dictionary: Dictionary): usize {
  const tables = slotBytes(dictionary) + <usize>dictionary.entryCapacity * PLACE;
  return dictionary.chunkBytes + tables;
}

@inline
export function entryBytes(dictionary: Dictionary, id: u32): usize {
  return <usize>load<u32>(dictionary.entries + <usize>id * PLACE);
}
@inline
export function entryLength(dictionary: Dictionary, id: u32): u32 {
  return load<u32>(dictionary.entries + <usize>id * PLACE, 4);
}

@inline
export function hashText(dictionary: Dictionary, bytes: usize, length: u32): u32 {
  return <u32>hashBytes(bytes, <usize>length);
}

function hashOfEntry(context: usize, id: u32): u64 {
  const dictionary = changetype<Dictionary>(context);
  return <u64>hashText(dictionary, entryBytes(dictionary, id), entryLength(dictionary, id));
}

function placeRange(dictionary: Dictionary, first: u32, end: u32): void {
  for (let id = first; id < end; id++) {
    const hash = hashText(dictionary, entryBytes(dictionary, id), entryLength(dictionary, id));
    if (waitForSlot(hash, id)) fillSlots(dictionary);
  }
  fillSlots(dictionary);
}

function append(dictionary: Dictionary, bytes: usize, length: u32, isKept: bool): bool {
  const id = dictionary.count;
  if (id === dictionary.entryCapacity) {
    const capacity: u32 = max<u32>(16384, id + (id >>> 1));
    const entries = allocatePages(<usize>capacity * PLACE);
    if (entries === 0) return false;
    memory.copy(entries, dictionary.entries, <usize>id * PLACE);
    if (dictionary.entries !== 0) freePages(dictionary.entries, <usize>id * PLACE);
    dictionary.entries = entries;
    dictionary.entryCapacity = capacity;
  }
  const at = isKept ? bytes : copyOf(dictionary, bytes, <usize>length);
  if (at === 0) return false;
  const place = dictionary.entries + <usize>id * PLACE;
  store<u32>(place, <u32>at);
  store<u32>(place, length, 4);
  dictionary.count = id + 1;
  return true;
}

/** A copy of the bytes of an entry. Returns 0 when memory is exhausted. */
function copyOf(dictionary: Dictionary, bytes: usize, length: usize): usize {
  if (dictionary.at + length > dictionary.end) {
    const size = max(CHUNK, length);
    const chunk = allocatePages(size);
    if (chunk === 0) return 0;
    dictionary.at = chunk;
    dictionary.end = chunk + size;
    dictionary.chunkBytes += size;
  }
  const at = dictionary.at;
  if (at + length + LOOSE_BYTES <= dictionary.end) copyText(at, bytes, length);
  else memory.copy(at, bytes, length);
  dictionary.at = at + length;
  return at;
}

/** Id of the bytes, or NO_ENTRY. */
export function findEntry(dictionary: Dictionary, bytes: usize, length: u32): u32 {
  placeAll(dictionary);
  if (dictionary.slotCount === 0) return NO_ENTRY;
  const hash = hashText(dictionary, bytes, length);
  return findInSlots<Dictionary>(dictionary, bytes, length, hash);
}

/** Id of the bytes, which are added if they are new. NO_ENTRY when memory is exhausted. */
export function addEntry(dictionary: Dictionary, bytes: usize, length: u32): u32 {
  return addHashed(dictionary, bytes, length, hashText(dictionary, bytes, length), false);
}

/**
 * As `addEntry`, with the hash that `hashText` gives. `isKept`: the bytes stay where they are, so
 * that a new entry refers to them.
 */
export function addHashed(
  dictionary: Dictionary,
  bytes: usize,
  length: u32,
  hash: u32,
  isKept: bool,
): u32 {
  placeAll(dictionary);
  const id = dictionary.count;
  if (!reserveSlot(dictionary, id, id, hashOfEntry, changetype<usize>(dictionary))) return NO_ENTRY;
  const known = findInSlots<Dictionary>(dictionary, bytes, length, hash);
  if (known !== NO_ENTRY) return known;
  if (!append(dictionary, bytes, length, isKept)) return NO_ENTRY;
  placeInSlot(dictionary, hash, id);
  dictionary.placed = id + 1;
  return id;
}

/** Loads `count` entries from `src`, which `exportEntries` wrote. Returns 0 or an error. */
export function loadEntries(dictionary: Dictionary, src: usize, bytes: usize, count: u32): i32 {
  if (dictionary.count !== 0) return ERROR_VALUE;
  const entries = allocatePages(<usize>(count + 1) * PLACE);
  if (entries === 0) return ERROR_TOO_LARGE;
  const end = src + bytes;
  let at = src;
  for (let id: u32 = 0; id < count; id++) {
    if (at + HEADER > end) return ERROR_TRUNCATED;
    const place = entries + <usize>id * PLACE;
    store<u32>(place, <u32>(at + HEADER));
    store<u32>(place, <u32>load<u16>(at), 4);
    at += HEADER + <usize>load<u16>(at);
  }
  if (at !== end) return ERROR_VALUE;
  dictionary.entries = entries;
  dictionary.entryCapacity = count + 1;
  dictionary.count = count;
  dictionary.chunkBytes += bytes;
  return 0;
}

/** Puts up to `count` loaded entries into slots. Returns how many are left. */
export function placeEntries(dictionary: Dictionary, count: u32): u32 {
  const total = dictionary.count;
  const first = dictionary.placed;
  if (first === total) return 0;
  if (dictionary.slotCount === 0) {
    if (!makeSlots(dictionary, total, total)) unreachable();
  }
  const end = count < total - first ? first + count : total;
  placeRange(dictionary, first, end);
  dictionary.placed = end;
  return total - end;
}

@inline
function placeAll(dictionary: Dictionary): void {
  if (dictionary.placed !== dictionary.count) placeEntries(dictionary, u32.MAX_VALUE);
}

/**
 * Copies entries from `first` on to `dst`, as many of [first, end) as fit in `room`. Returns the id
 * after the last one.
 */
export function exportEntries(
  dictionary: Dictionary,
  first: u32,
  end: u32,
  dst: usize,
  room: usize,
): u32 {
  let out = dst;
  let id = first;
  for (; id < end; id++) {
    const length = entryLength(dictionary, id);
    const size = HEADER + <usize>length;
    if (out + size > dst + room) break;
    store<u16>(out, <u16>length);
    memory.copy(out + HEADER, entryBytes(dictionary, id), <usize>length);
    out += size;
  }
  exported = out - dst;
  return id;
}

let exported: usize = 0;
/** Size of the output of `exportEntries`. */
export function exportedEntryBytes(): usize {
  return exported;
}
