// Byte strings to dense ids, in the order in which they came. An entry costs its bytes, 6 bytes and 8 bytes per slot.
import { ERROR_TOO_LARGE, ERROR_TRUNCATED, ERROR_VALUE } from './bytes';
import { hashBytes } from './hash';
import { allocateRun, freeRun } from './memory';
import { sameBytes } from './symbols';

export const NO_ENTRY: u32 = u32.MAX_VALUE;
/** Longest entry. */
export const ENTRY_BYTES_MAX: usize = 65535;

const HEADER: usize = 2;
const CHUNK: usize = 262144;

@unmanaged
export class Dictionary {
  // Slots: hash u32, id + 1 u32. Linear probing, at most three quarters full.
  slots: usize;
  slotCount: u32;
  count: u32;
  // Id -> address of (length u16, bytes).
  entries: usize;
  entryCapacity: u32;
  at: usize;
  end: usize;
  chunkBytes: usize;
  seed: u64;
  // Entries that are in slots; loaded ones come in when they are needed, or in portions before.
  placed: u32;
}

/** Bytes that the dictionary holds. */
export function dictionaryBytes(dictionary: Dictionary): usize {
  const tables = <usize>dictionary.slotCount * 8 + <usize>dictionary.entryCapacity * 4;
  return dictionary.chunkBytes + tables;
}

@inline
export function entryBytes(dictionary: Dictionary, id: u32): usize {
  return <usize>load<u32>(dictionary.entries + <usize>id * 4) + HEADER;
}
@inline
export function entryLength(dictionary: Dictionary, id: u32): u32 {
  return <u32>load<u16>(<usize>load<u32>(dictionary.entries + <usize>id * 4));
}

function resizeSlots(dictionary: Dictionary, slotCount: u32): bool {
  const oldSlots = dictionary.slots;
  const oldCount = dictionary.slotCount;
  const slots = allocateRun(<usize>slotCount * 8);
  if (slots === 0) return false;
  memory.fill(slots, 0, <usize>slotCount * 8);
  const mask = slotCount - 1;
  for (let i: u32 = 0; i < oldCount; i++) {
    const entry = load<u64>(oldSlots + <usize>i * 8);
    if (entry === 0) continue;
    let slot = <u32>entry & mask;
    while (load<u64>(slots + <usize>slot * 8) !== 0) slot = (slot + 1) & mask;
    store<u64>(slots + <usize>slot * 8, entry);
  }
  if (oldCount > 0) freeRun(oldSlots, <usize>oldCount * 8);
  dictionary.slots = slots;
  dictionary.slotCount = slotCount;
  return true;
}

function append(dictionary: Dictionary, bytes: usize, length: u32): bool {
  const id = dictionary.count;
  if (id === dictionary.entryCapacity) {
    const capacity: u32 = max<u32>(16384, id + (id >>> 1));
    const entries = allocateRun(<usize>capacity * 4);
    if (entries === 0) return false;
    memory.copy(entries, dictionary.entries, <usize>id * 4);
    if (dictionary.entries !== 0) freeRun(dictionary.entries, <usize>id * 4);
    dictionary.entries = entries;
    dictionary.entryCapacity = capacity;
  }
  const size = HEADER + <usize>length;
  if (dictionary.at + size > dictionary.end) {
    const chunk = allocateRun(CHUNK);
    if (chunk === 0) return false;
    dictionary.at = chunk;
    dictionary.end = chunk + CHUNK;
    dictionary.chunkBytes += CHUNK;
  }
  const at = dictionary.at;
  store<u16>(at, <u16>length);
  memory.copy(at + HEADER, bytes, <usize>length);
  store<u32>(dictionary.entries + <usize>id * 4, <u32>at);
  dictionary.at = at + size;
  dictionary.count = id + 1;
  return true;
}

/** Id of the bytes, NO_ENTRY when they are not there. */
export function findEntry(dictionary: Dictionary, bytes: usize, length: u32): u32 {
  placeAll(dictionary);
  if (dictionary.slotCount === 0) return NO_ENTRY;
  const hash = <u32>hashBytes(bytes, <usize>length, dictionary.seed);
  const mask = dictionary.slotCount - 1;
  let slot = hash & mask;
  while (true) {
    const address = dictionary.slots + <usize>slot * 8;
    const known = load<u32>(address, 4);
    if (known === 0) return NO_ENTRY;
    if (load<u32>(address) === hash) {
      const entry = <usize>load<u32>(dictionary.entries + <usize>(known - 1) * 4);
      if (<u32>load<u16>(entry) === length && sameBytes(entry + HEADER, bytes, <usize>length)) {
        return known - 1;
      }
    }
    slot = (slot + 1) & mask;
  }
}

/** Id of the bytes, which are copied in when they are new. NO_ENTRY when memory is exhausted. */
export function addEntry(dictionary: Dictionary, bytes: usize, length: u32): u32 {
  placeAll(dictionary);
  if ((dictionary.count + 1) * 4 > dictionary.slotCount * 3) {
    const wanted: u32 = dictionary.slotCount === 0 ? 8192 : dictionary.slotCount * 2;
    if (!resizeSlots(dictionary, wanted)) return NO_ENTRY;
  }
  const hash = <u32>hashBytes(bytes, <usize>length, dictionary.seed);
  const mask = dictionary.slotCount - 1;
  let slot = hash & mask;
  while (true) {
    const address = dictionary.slots + <usize>slot * 8;
    const known = load<u32>(address, 4);
    if (known === 0) {
      const id = dictionary.count;
      if (!append(dictionary, bytes, length)) return NO_ENTRY;
      store<u32>(address, hash);
      store<u32>(address, id + 1, 4);
      dictionary.placed = id + 1;
      return id;
    }
    if (load<u32>(address) === hash) {
      const entry = <usize>load<u32>(dictionary.entries + <usize>(known - 1) * 4);
      if (<u32>load<u16>(entry) === length && sameBytes(entry + HEADER, bytes, <usize>length)) {
        return known - 1;
      }
    }
    slot = (slot + 1) & mask;
  }
}

/** Makes room for `count` entries that lie one behind the other at `src`, as `append` writes them. 0 or an error. */
export function loadEntries(dictionary: Dictionary, src: usize, bytes: usize, count: u32): i32 {
  if (dictionary.count !== 0) return ERROR_VALUE;
  const entries = allocateRun(<usize>(count + 1) * 4);
  if (entries === 0) return ERROR_TOO_LARGE;
  const end = src + bytes;
  let at = src;
  for (let id: u32 = 0; id < count; id++) {
    if (at + HEADER > end) return ERROR_TRUNCATED;
    store<u32>(entries + <usize>id * 4, <u32>at);
    at += HEADER + <usize>load<u16>(at);
  }
  if (at !== end) return ERROR_VALUE;
  dictionary.entries = entries;
  dictionary.entryCapacity = count + 1;
  dictionary.count = count;
  dictionary.chunkBytes += bytes;
  return 0;
}

/** Puts up to `count` loaded entries into slots; how many are left. */
export function placeEntries(dictionary: Dictionary, count: u32): u32 {
  const total = dictionary.count;
  const first = dictionary.placed;
  if (first === total) return 0;
  if (dictionary.slotCount === 0) {
    let slotCount: u32 = 8192;
    while (slotCount * 3 < (total + 1) * 4) slotCount <<= 1;
    if (!resizeSlots(dictionary, slotCount)) unreachable();
  }
  const end = count < total - first ? first + count : total;
  const mask = dictionary.slotCount - 1;
  for (let id = first; id < end; id++) {
    const length = <usize>entryLength(dictionary, id);
    const hash = <u32>hashBytes(entryBytes(dictionary, id), length, dictionary.seed);
    let slot = hash & mask;
    while (load<u32>(dictionary.slots + <usize>slot * 8, 4) !== 0) slot = (slot + 1) & mask;
    store<u32>(dictionary.slots + <usize>slot * 8, hash);
    store<u32>(dictionary.slots + <usize>slot * 8, id + 1, 4);
  }
  dictionary.placed = end;
  return total - end;
}

@inline
function placeAll(dictionary: Dictionary): void {
  if (dictionary.placed !== dictionary.count) placeEntries(dictionary, u32.MAX_VALUE);
}

/** Copies entries [first, end) to `dst` while they fit `room`; returns the id behind the last one. */
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
    const size = HEADER + <usize>entryLength(dictionary, id);
    if (out + size > dst + room) break;
    memory.copy(out, entryBytes(dictionary, id) - HEADER, size);
    out += size;
  }
  exported = out - dst;
  return id;
}

let exported: usize = 0;
/** Bytes that `exportEntries` wrote. */
export function exportedEntryBytes(): usize {
  return exported;
}
