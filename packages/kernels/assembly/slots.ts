// Hash slots: the one hash table of keys that are kept between calls, for series, names and texts.
// A slot has four bytes: 0 if it is empty, otherwise id + 1 in the lower bits and as many bits of
// the hash as fit above. So a look-up compares the bytes of a wrong entry only once in some hundred
// times, while slots with whole hashes would take twice the memory: 25 MiB for a million series
// that have two tags each. In return, hashes are computed again when a table grows, from entries
// that are stored in order.
//
// A table grows in portions, one with every few added entries, because growing at once takes half a
// second with ten million series. First the new slots are cleared. Then they take new entries, and
// the entries of the old slots are moved in the order of ids. Until that is finished, look-ups that
// find nothing in the new slots continue in the old ones.
import { NO_ID } from './abi.gen';
import { allocatePages, freePages } from './memory';

/** Linear probing, at most three quarters full. A table without slots has all zeros. */
@unmanaged
export class SlotTable {
  slots: usize;
  slotCount: u32;
  idMask: u32;
  /** Slots that are not empty, including those of removed entries. */
  filled: u32;
  /** Slots that are being cleared, and how many bytes have been; 0 when there are none. */
  next: usize;
  nextCount: u32;
  cleared: usize;
  /**
   * Slots with entries of ids [moved, oldEnd) that are not in the new ones yet; 0 when there are
   * none.
   */
  old: usize;
  oldCount: u32;
  oldMask: u32;
  moved: u32;
  oldEnd: u32;
  /** Number of added entries, which tells when a portion of growing is due. */
  added: u32;
}

/** The hash of an id's entry; `NO_HASH` when it has none. */
export type HashOf = (context: usize, id: u32) => u64;
export const NO_HASH: u64 = u64.MAX_VALUE;

/** A database of a few series touches one page of the machine. */
const FIRST_SLOTS: u32 = 1024;
/** Entries added between two portions of growing; a power of two. */
const ENTRIES_PER_PORTION: u32 = 8;
/** Growing begins at five eighths, so that the new slots are cleared long before three quarters. */
const CLEARED_PER_PORTION: usize = 65536;
/** A limit for ids without entries, which take little time, but some. */
const IDS_PER_PORTION: u32 = 1024;

/** Memory of a table's slots. */
export function slotBytes(table: SlotTable): usize {
  return (<usize>table.slotCount + <usize>table.nextCount + <usize>table.oldCount) * 4;
}

/**
 * The lower bits of a slot, for ids up to twice `newestId` and the mask itself. Positions are
 * computed from the lower bits of a hash, so the bits kept above are additional information.
 */
function idMaskFor(slotCount: u32, newestId: u32): u32 {
  let ids: u64 = <u64>slotCount * 2;
  while (ids < <u64>newestId * 2 + 2 && ids < 0x100000000) ids <<= 1;
  return <u32>(ids - 1);
}

// When slots are filled again, entries (hash and id) wait here first. Slots are scattered over the
// table; filling them without touching anything else lets the processor load many at the same time:
// a million new series take a quarter less.
const WAITING_MAX: u32 = 64;
const waiting: usize = memory.data(64 * 8, 8);
let waitingCount: u32 = 0;

/** Adds a waiting entry. Returns whether `fillSlots` has to be called before the next one. */
@inline
export function waitForSlot(hash: u32, id: u32): bool {
  const at = waiting + ((<usize>waitingCount) << 3);
  store<u32>(at, hash);
  store<u32>(at, id, 4);
  return ++waitingCount === WAITING_MAX;
}

/** Puts all waiting entries into slots. The table has room for them. */
export function fillSlots(table: SlotTable): void {
  const slots = table.slots;
  const idMask = table.idMask;
  const mask = table.slotCount - 1;
  const count = waitingCount;
  const end = waiting + ((<usize>count) << 3);
  for (let at = waiting; at < end; at += 8) {
    const hash = load<u32>(at);
    let slot = hash & mask;
    while (load<u32>(slots + ((<usize>slot) << 2)) !== 0) slot = (slot + 1) & mask;
    store<u32>(slots + ((<usize>slot) << 2), (hash & ~idMask) | (load<u32>(at, 4) + 1));
  }
  waitingCount = 0;
  table.filled += count;
}

/**
 * Reads the slots where a look-up of this hash begins, so that they are in the processor's caches.
 * The result is only added to a sum, so that the read is not removed.
 */
@inline
export function touchSlots(table: SlotTable, hash: u32): u32 {
  if (table.slotCount === 0) return 0;
  const touched = load<u32>(table.slots + ((<usize>(hash & (table.slotCount - 1))) << 2));
  if (table.old === 0) return touched;
  return touched + load<u32>(table.old + ((<usize>(hash & (table.oldCount - 1))) << 2));
}

/**
 * The id of the entry with this key, or `NO_ID`, in a table that has slots. Its
 * `hasKey(id, key, length)` compares.
 */
@inline
export function findInSlots<T extends SlotTable>(
  table: T,
  key: usize,
  length: u32,
  hash: u32,
): u32 {
  const id = probe<T>(table, table.slots, table.slotCount, table.idMask, key, length, hash);
  if (id !== NO_ID || table.old === 0) return id;
  return findInOld<T>(table, key, length, hash);
}

/** Searches the old slots of a growing table. Not inlined, so that `findInSlots` stays small. */
function findInOld<T extends SlotTable>(table: T, key: usize, length: u32, hash: u32): u32 {
  return probe<T>(table, table.old, table.oldCount, table.oldMask, key, length, hash);
}

@inline
function probe<T extends SlotTable>(
  table: T,
  slots: usize,
  slotCount: u32,
  idMask: u32,
  key: usize,
  length: u32,
  hash: u32,
): u32 {
  const mask = slotCount - 1;
  let slot = hash & mask;
  while (true) {
    const value = load<u32>(slots + <usize>slot * 4);
    if (value === 0) return NO_ID;
    if (((value ^ hash) & ~idMask) === 0) {
      const known = value & idMask;
      // The mask itself stands for a removed entry.
      if (known !== idMask && table.hasKey(known - 1, key, length)) return known - 1;
    }
    slot = (slot + 1) & mask;
  }
}

/** Puts an entry into a slot. The table has room for it. */
export function placeInSlot(table: SlotTable, hash: u32, id: u32): void {
  const slots = table.slots;
  const mask = table.slotCount - 1;
  let slot = hash & mask;
  while (load<u32>(slots + <usize>slot * 4) !== 0) slot = (slot + 1) & mask;
  store<u32>(slots + <usize>slot * 4, (hash & ~table.idMask) | (id + 1));
  table.filled++;
}

/** Marks the slots of an entry as removed; look-ups continue after them. */
export function removeFromSlots(table: SlotTable, hash: u32, id: u32): void {
  const isOld = table.old !== 0 && id < table.oldEnd;
  if (!isOld || id < table.moved)
    removeFrom(table.slots, table.slotCount - 1, table.idMask, hash, id);
  if (isOld) removeFrom(table.old, table.oldCount - 1, table.oldMask, hash, id);
}

function removeFrom(slots: usize, mask: u32, idMask: u32, hash: u32, id: u32): void {
  let slot = hash & mask;
  while ((load<u32>(slots + <usize>slot * 4) & idMask) !== id + 1) slot = (slot + 1) & mask;
  store<u32>(slots + <usize>slot * 4, idMask);
}

/** Tells the table that ids from `first` on will be assigned again; their entries are removed. */
export function truncateSlots(table: SlotTable, first: u32): void {
  if (table.old === 0 || table.oldEnd <= first) return;
  table.oldEnd = first;
  if (table.moved >= first) dropOld(table);
}

/** Removes all slots. */
export function clearSlots(table: SlotTable): void {
  if (table.slotCount > 0) freePages(table.slots, <usize>table.slotCount * 4);
  if (table.nextCount > 0) freePages(table.next, <usize>table.nextCount * 4);
  dropOld(table);
  memory.fill(changetype<usize>(table), 0, offsetof<SlotTable>());
}

/**
 * Replaces all slots by empty ones for `present` entries. Returns false when memory is exhausted.
 */
export function makeSlots(table: SlotTable, present: u32, newestId: u32): bool {
  let count = FIRST_SLOTS;
  while (count * 5 < (present + 1) * 8) count <<= 1;
  if (!allocateNext(table, count)) return false;
  memory.fill(table.next, 0, <usize>table.nextCount * 4);
  useNext(table, newestId);
  dropOld(table);
  return true;
}

/** Whether one more entry, with this id, fits. Grows in portions before that is necessary. */
@inline
export function reserveSlot(
  table: SlotTable,
  id: u32,
  present: u32,
  hashOf: HashOf,
  context: usize,
): bool {
  if ((++table.added & (ENTRIES_PER_PORTION - 1)) !== 0 && hasRoom(table, id)) return true;
  return growSlots(table, id, present, hashOf, context);
}

@inline
function hasRoom(table: SlotTable, id: u32): bool {
  return (table.filled + 1) * 4 <= table.slotCount * 3 && id + 1 < table.idMask;
}

function growSlots(table: SlotTable, id: u32, present: u32, hashOf: HashOf, context: usize): bool {
  if (table.old !== 0) moveSome(table, hashOf, context);
  else if (table.next !== 0) clearSome(table, id);
  // If there is no memory for new slots, the present ones are used until they are full.
  else if (table.filled * 8 >= table.slotCount * 5) allocateNext(table, grownCount(present));
  if (hasRoom(table, id)) return true;
  // For the first slots, or if hardly any id has an entry, there is little left to do.
  finishGrowth(table, id, hashOf, context);
  if (hasRoom(table, id)) return true;
  if (!allocateNext(table, grownCount(present))) return false;
  finishGrowth(table, id, hashOf, context);
  return true;
}

/** Does the rest of growing at once. */
export function finishGrowth(
  table: SlotTable,
  newestId: u32,
  hashOf: HashOf,
  context: usize,
): void {
  while (table.next !== 0) clearSome(table, newestId);
  while (table.old !== 0) moveSome(table, hashOf, context);
}

/**
 * Number of slots for which `present` entries fill at most a half. Removed ones are not counted.
 */
function grownCount(present: u32): u32 {
  let count = FIRST_SLOTS;
  while (count < (present + 1) * 2) count <<= 1;
  return count;
}

/** Begins to grow. Returns false when memory is exhausted. */
function allocateNext(table: SlotTable, count: u32): bool {
  const address = allocatePages(<usize>count * 4);
  if (address === 0) return false;
  table.next = address;
  table.nextCount = count;
  table.cleared = 0;
  return true;
}

function clearSome(table: SlotTable, newestId: u32): void {
  const bytes = <usize>table.nextCount * 4;
  const count = min(CLEARED_PER_PORTION, bytes - table.cleared);
  memory.fill(table.next + table.cleared, 0, count);
  table.cleared += count;
  if (table.cleared === bytes) useNext(table, newestId);
}

/** From now on, entries are added to the cleared slots. */
function useNext(table: SlotTable, newestId: u32): void {
  table.old = table.slots;
  table.oldCount = table.slotCount;
  table.oldMask = table.idMask;
  table.moved = 0;
  table.oldEnd = newestId;
  table.slots = table.next;
  table.slotCount = table.nextCount;
  table.idMask = idMaskFor(table.nextCount, newestId);
  table.filled = 0;
  table.next = 0;
  table.nextCount = 0;
}

function moveSome(table: SlotTable, hashOf: HashOf, context: usize): void {
  let id = table.moved;
  const end = min(table.oldEnd, id + IDS_PER_PORTION);
  while (id < end) {
    const hash = hashOf(context, id);
    id++;
    if (hash !== NO_HASH && waitForSlot(<u32>hash, id - 1)) break;
  }
  fillSlots(table);
  table.moved = id;
  if (id >= table.oldEnd) dropOld(table);
}

function dropOld(table: SlotTable): void {
  if (table.oldCount > 0) freePages(table.old, <usize>table.oldCount * 4);
  table.old = 0;
  table.oldCount = 0;
}
