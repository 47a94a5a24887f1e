// Slots of the tables of series and texts: four bytes each, 0 when empty, else id + 1 in the low
// bits and in the others as many bits of the hash as there is room for. So a look-up reads the
// bytes of a wrong entry once in a few hundred times only, while a slot with the whole hash takes
// twice the memory: 25 MiB of a million series with two tags each of its own. The price is paid
// when a table grows: hashes have to be made again, from entries that lie one behind the other.
//
// A table grows in portions, some with every few entries that are added, because of ten million
// series the whole of it takes half a second. First the new slots are cleared; then they take what
// is added, and what lies in the old ones is moved in the order of ids. Until all of it is,
// look-ups that find nothing in the new slots go on in the old ones.
import { allocateRun, freeRun } from './memory';

/** Linear probing, at most three quarters full. All zero: a table without slots. */
@unmanaged
export class SlotTable {
  slots: usize;
  slotCount: u32;
  idMask: u32;
  /** Slots that are not empty, those of removed entries included. */
  filled: u32;
  /** Slots that are being cleared, and how many of their bytes are; 0 when there are none. */
  next: usize;
  nextCount: u32;
  cleared: usize;
  /**
   * Slots of which entries with ids [moved, oldEnd) are not in the others yet; 0 when there are
   * none.
   */
  old: usize;
  oldCount: u32;
  oldMask: u32;
  moved: u32;
  oldEnd: u32;
  /** Entries that were added; a portion of growing comes with every so many of them. */
  added: u32;
}

/** The hash of what an id stands for; `NO_HASH` when that is nothing. */
export type HashOf = (context: usize, id: u32) => u64;
export const NO_HASH: u64 = u64.MAX_VALUE;

const FIRST_SLOTS: u32 = 16384;
/** A portion of growing comes with every so many entries: a power of two. */
const ENTRIES_PER_PORTION: u32 = 8;
/**
 * A table that has begun to grow at five eighths has cleared its new slots long before three
 * quarters.
 */
const CLEARED_PER_PORTION: usize = 65536;
/** Ids without an entry cost little, but not nothing. */
const IDS_PER_PORTION: u32 = 1024;

/** Bytes of all slots of a table. */
export function slotBytes(table: SlotTable): usize {
  return (<usize>table.slotCount + <usize>table.nextCount + <usize>table.oldCount) * 4;
}

/**
 * The bits of a slot that hold id + 1, so that ids up to twice `newestId` and the mask itself
 * differ. Positions come from the low bits of a hash, of which there are fewer: the bits that are
 * kept tell more.
 */
function idMaskFor(slotCount: u32, newestId: u32): u32 {
  let ids: u64 = <u64>slotCount * 2;
  while (ids < <u64>newestId * 2 + 2 && ids < 0x100000000) ids <<= 1;
  return <u32>(ids - 1);
}

// Entries of a table that is made anew wait here to get their slots: hash and id each. Slots lie
// all over the table, and when nothing else is touched for a while the processor waits for many of
// them at once: a quarter less for a million new series.
const WAITING_MAX: u32 = 64;
const waiting: usize = memory.data(64 * 8, 8);
let waitingCount: u32 = 0;

/** Notes an entry; whether `fillSlots` has to be called before the next. */
@inline
export function waitForSlot(hash: u32, id: u32): bool {
  const at = waiting + ((<usize>waitingCount) << 3);
  store<u32>(at, hash);
  store<u32>(at, id, 4);
  return ++waitingCount === WAITING_MAX;
}

/** Gives the noted entries their slots, of a table that has room. */
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
 * Reads the slots where a look-up of the hash begins, so that the processor has them when it comes.
 * Of use only as a sum.
 */
@inline
export function touchSlots(table: SlotTable, hash: u32): u32 {
  if (table.slotCount === 0) return 0;
  const touched = load<u32>(table.slots + ((<usize>(hash & (table.slotCount - 1))) << 2));
  if (table.old === 0) return touched;
  return touched + load<u32>(table.old + ((<usize>(hash & (table.oldCount - 1))) << 2));
}

/** Puts an entry into the table, which has room for it. */
export function placeInSlot(table: SlotTable, hash: u32, id: u32): void {
  const slots = table.slots;
  const mask = table.slotCount - 1;
  let slot = hash & mask;
  while (load<u32>(slots + <usize>slot * 4) !== 0) slot = (slot + 1) & mask;
  store<u32>(slots + <usize>slot * 4, (hash & ~table.idMask) | (id + 1));
  table.filled++;
}

/** Marks the slots of an entry as those of one that was removed: look-ups pass over them. */
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

/** Ids from `first` on are free again; their entries were removed. */
export function truncateSlots(table: SlotTable, first: u32): void {
  if (table.old === 0 || table.oldEnd <= first) return;
  table.oldEnd = first;
  if (table.moved >= first) dropOld(table);
}

/** Empty slots for `present` entries, in place of those that there are. False without memory. */
export function makeSlots(table: SlotTable, present: u32, newestId: u32): bool {
  let count = FIRST_SLOTS;
  while (count * 5 < (present + 1) * 8) count <<= 1;
  if (!allocateNext(table, count)) return false;
  memory.fill(table.next, 0, <usize>table.nextCount * 4);
  useNext(table, newestId);
  dropOld(table);
  return true;
}

/**
 * Whether there is room for one more entry, of this id, or room could be made; grows in portions
 * before it is needed.
 */
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
  // Without memory for new slots the present ones do until they are full.
  else if (table.filled * 8 >= table.slotCount * 5) allocateNext(table, grownCount(present));
  if (hasRoom(table, id)) return true;
  // The first slots, or ids of which hardly any has an entry left: what is not done yet is little.
  finishGrowth(table, id, hashOf, context);
  if (hasRoom(table, id)) return true;
  if (!allocateNext(table, grownCount(present))) return false;
  finishGrowth(table, id, hashOf, context);
  return true;
}

/** Does at once what is left of growing. */
export function finishGrowth(
  table: SlotTable,
  newestId: u32,
  hashOf: HashOf,
  context: usize,
): void {
  while (table.next !== 0) clearSome(table, newestId);
  while (table.old !== 0) moveSome(table, hashOf, context);
}

/** Slots of which so many entries fill a half at most; those of removed ones vanish. */
function grownCount(present: u32): u32 {
  let count = FIRST_SLOTS;
  while (count < (present + 1) * 2) count <<= 1;
  return count;
}

/** Begins to grow. False without memory. */
function allocateNext(table: SlotTable, count: u32): bool {
  const address = allocateRun(<usize>count * 4);
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

/** The cleared slots take what is added from now on. */
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
  if (table.oldCount > 0) freeRun(table.old, <usize>table.oldCount * 4);
  table.old = 0;
  table.oldCount = 0;
}
