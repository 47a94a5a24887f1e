// Tallies: the values of a window with the number of each. A hash table of values; a list when
// most of them differ. Or, for ranks, only the best rows. Keys order values of every kind as
// unsigned integers.
import {
  RANK_BOTTOM,
  RANK_NONE,
  RANKED_ROW_BYTES,
  RANKED_ROW_TIME,
  RANKED_ROW_VALUE,
  TALLIED_WINDOW_BYTES,
  TALLIED_WINDOW_START,
  TALLIED_WINDOW_TALLY,
  VALUE_BOOLEAN,
  VALUE_FLOAT,
  VALUE_INTEGER,
} from './abi.gen';
import { floorMod } from './accumulators';
import { allocate, Arena, freeArena, openArena } from './arena';
import { allocatePages, freePages, MEMORY_PAGE_BYTES, wholePages } from './memory';

@unmanaged
export class Tally {
  start: i64;
  /** Number of values. */
  values: u64;
  /** Entries of the table, or the heap of ranked rows. */
  table: usize;
  capacity: u32;
  /** Entries in use. */
  size: u32;
  /** First and last block of the list. */
  head: usize;
  tail: usize;
  /** Keys in the last block. */
  filled: u32;
  group: u32;
  /** The next one of its group. */
  next: usize;
  /** Whether the first zero was negative, in the order of time where times are kept. */
  hasNegativeZero: u32;
}

/** Tallies of one field, for all groups and windows; at the start of the first chunk. */
@unmanaged
export class Tallies {
  /** Arena of tallies and small tables. */
  chunk: usize;
  at: usize;
  end: usize;
  bytes: usize;
  kind: u32;
  /** Whether entries have the first and the last time of their value. */
  hasTimes: u32;
  /** Whether the latest row is the first one of the query. */
  descends: u32;
  rank: u32;
  /** Number of rows that are ranked. */
  rankSize: u32;
  every: i64;
  offset: i64;
  start: i64;
  groups: u32;
  /** Address of the first tally of each group. */
  firsts: usize;
  /** Hash table of tallies by group and start. */
  windows: usize;
  windowCapacity: u32;
  windowCount: u32;
  /** Bytes in pages besides the arena. */
  pageBytes: usize;
  /** State of a selection: a prefix of the wanted key, its bits, and the rank among its keys. */
  prefix: u64;
  mask: u64;
  shift: u32;
  selected: u64;
  /** State of an order: two arrays of addresses of entries. */
  orderCount: u32;
  order: usize;
  spare: usize;
  width: u32;
  orderTally: usize;
  /** Small tables that were outgrown, by the logarithm of their size. */
  outgrown: usize;
}

export const ENTRY_COUNT: usize = 8;
export const ENTRY_FIRST: usize = 16;
export const ENTRY_LAST: usize = 24;

const FIRST_ENTRIES: u32 = 8;
const FIRST_WINDOWS: u32 = 64;
const SIZE_CLASSES: usize = 17;
/** Keys of a block of a list: a page without the address of the next block. */
export const BLOCK_KEYS: u32 = 8191;
/** Tables of this size become lists when they have less than two values for each entry. */
const LISTED_ENTRIES: u32 = 4096;

@inline
export function entryBytes(tallies: Tallies): usize {
  return tallies.hasTimes !== 0 ? 32 : 16;
}

/**
 * Opens tallies for `groups` groups. With `every` 0 there is one window, which begins at `start`.
 * Returns 0 when memory is exhausted.
 */
export function openTallies(
  groups: u32,
  kind: u32,
  hasTimes: bool,
  descends: bool,
  rank: u32,
  rankSize: u32,
  every: i64,
  offset: i64,
  start: i64,
): usize {
  const header = offsetof<Tallies>() + SIZE_CLASSES * 4;
  const address = openArena(header + <usize>groups * 4);
  if (address === 0) return 0;
  const tallies = changetype<Tallies>(address);
  tallies.kind = kind;
  tallies.hasTimes = <u32>hasTimes;
  tallies.descends = <u32>descends;
  tallies.rank = rank;
  tallies.rankSize = rankSize;
  tallies.every = every;
  tallies.offset = every === 0 ? 0 : floorMod(offset, every);
  tallies.start = start;
  tallies.groups = groups;
  tallies.outgrown = address + offsetof<Tallies>();
  tallies.firsts = address + header;
  return address;
}

/** Frees the pages of all tables and lists. */
function freeContents(tallies: Tallies): void {
  for (let group: u32 = 0; group < tallies.groups; group++) {
    let at = <usize>load<u32>(tallies.firsts + ((<usize>group) << 2));
    while (at !== 0) {
      const tally = changetype<Tally>(at);
      freeTable(tallies, tally, false);
      let block = tally.head;
      while (block !== 0) {
        const next = <usize>load<u32>(block);
        freePages(block, MEMORY_PAGE_BYTES);
        block = next;
      }
      at = tally.next;
    }
  }
  if (tallies.windowCapacity > 0) freePages(tallies.windows, (<usize>tallies.windowCapacity) << 2);
  freeOrder(tallies);
}

export function closeTallies(address: usize): void {
  freeContents(changetype<Tallies>(address));
  freeArena(changetype<Arena>(address));
}

/** Number of windows of all groups. */
export function talliedWindows(address: usize): u32 {
  return changetype<Tallies>(address).windowCount;
}

/** Memory of all tallies. */
export function talliedBytes(address: usize): usize {
  const tallies = changetype<Tallies>(address);
  return tallies.bytes + tallies.pageBytes;
}

/** Writes start and address (both i64) of the tallies of a group. Returns their number. */
export function talliesOfGroup(address: usize, group: u32, dst: usize): u32 {
  const tallies = changetype<Tallies>(address);
  let at = <usize>load<u32>(tallies.firsts + ((<usize>group) << 2));
  let count: u32 = 0;
  while (at !== 0) {
    const tally = changetype<Tally>(at);
    if (dst !== 0) {
      store<i64>(dst, tally.start, TALLIED_WINDOW_START);
      store<u64>(dst, <u64>at, TALLIED_WINDOW_TALLY);
      dst += TALLIED_WINDOW_BYTES;
    }
    count++;
    at = tally.next;
  }
  return count;
}

/** Number of values, exact up to 2^53. */
export function talliedValues(tally: usize): f64 {
  return <f64>changetype<Tally>(tally).values;
}

/** Number of distinct values; of a list it is not known. */
export function talliedDistinct(tally: usize): u32 {
  return changetype<Tally>(tally).size;
}

/**
 * Of short decimals as floats, only the upper bits differ, so they are mixed into the lower ones.
 */
@inline
function hashOf(word: u64): u32 {
  const mixed = (word ^ (word >> 32)) * 0x9e3779b97f4a7c15;
  return <u32>(mixed >> 32);
}

@inline
function isOf(tally: Tally, group: u32, start: i64): bool {
  return tally.start === start && tally.group === group;
}

@inline
function windowSlot(windows: usize, mask: u32, group: u32, start: i64): usize {
  let slot = hashOf(<u64>start + <u64>group * 0xd6e8feb86659fd93) & mask;
  let address = windows + ((<usize>slot) << 2);
  let at = <usize>load<u32>(address);
  while (at !== 0 && !isOf(changetype<Tally>(at), group, start)) {
    slot = (slot + 1) & mask;
    address = windows + ((<usize>slot) << 2);
    at = <usize>load<u32>(address);
  }
  return address;
}

/** The tally of a window, which is added if it is new. Returns 0 when memory is exhausted. */
export function tallyOf(tallies: Tallies, group: u32, start: i64): usize {
  if (tallies.windowCount * 2 >= tallies.windowCapacity && !growWindows(tallies)) return 0;
  const slot = windowSlot(tallies.windows, tallies.windowCapacity - 1, group, start);
  const known = <usize>load<u32>(slot);
  if (known !== 0) return known;
  const at = allocate(changetype<Arena>(changetype<usize>(tallies)), offsetof<Tally>());
  if (at === 0) return 0;
  memory.fill(at, 0, offsetof<Tally>());
  const tally = changetype<Tally>(at);
  tally.start = start;
  tally.group = group;
  const first = tallies.firsts + ((<usize>group) << 2);
  tally.next = <usize>load<u32>(first);
  store<u32>(first, <u32>at);
  store<u32>(slot, <u32>at);
  tallies.windowCount++;
  return at;
}

function growWindows(tallies: Tallies): bool {
  const before = tallies.windowCapacity;
  const capacity: u32 = before === 0 ? FIRST_WINDOWS : before * 2;
  const bytes = (<usize>capacity) << 2;
  const windows = allocatePages(bytes);
  if (windows === 0) return false;
  memory.fill(windows, 0, bytes);
  for (let i: u32 = 0; i < before; i++) {
    const at = <usize>load<u32>(tallies.windows + ((<usize>i) << 2));
    if (at === 0) continue;
    const tally = changetype<Tally>(at);
    store<u32>(windowSlot(windows, capacity - 1, tally.group, tally.start), <u32>at);
  }
  if (before > 0) {
    freePages(tallies.windows, (<usize>before) << 2);
    tallies.pageBytes -= wholePages((<usize>before) << 2);
  }
  tallies.pageBytes += wholePages(bytes);
  tallies.windows = windows;
  tallies.windowCapacity = capacity;
  return true;
}

/** The slot of a key in a table: its entry, or a free one, which has the count 0. */
@inline
export function entrySlot(table: usize, capacity: u32, key: u64, bytes: usize): usize {
  const mask = capacity - 1;
  let slot = hashOf(key) & mask;
  let entry = table + <usize>slot * bytes;
  while (load<u64>(entry, ENTRY_COUNT) !== 0 && load<u64>(entry) !== key) {
    slot = (slot + 1) & mask;
    entry = table + <usize>slot * bytes;
  }
  return entry;
}

/**
 * Makes room for one more entry, or turns the table into a list. Returns false when memory is
 * exhausted.
 */
export function growTable(tallies: Tallies, tally: Tally): bool {
  if (
    tally.size >= LISTED_ENTRIES &&
    tallies.hasTimes === 0 &&
    tally.values < <u64>tally.size * 2
  ) {
    return becomeList(tallies, tally);
  }
  const before = tally.table;
  const capacityBefore = tally.capacity;
  const bytes = entryBytes(tallies);
  const capacity: u32 = capacityBefore === 0 ? FIRST_ENTRIES : capacityBefore * 2;
  const table = allocateTable(tallies, <usize>capacity * bytes);
  if (table === 0) return false;
  memory.fill(table, 0, <usize>capacity * bytes);
  for (let i: u32 = 0; i < capacityBefore; i++) {
    const entry = before + <usize>i * bytes;
    if (load<u64>(entry, ENTRY_COUNT) === 0) continue;
    memory.copy(entrySlot(table, capacity, load<u64>(entry), bytes), entry, bytes);
  }
  freeTable(tallies, tally, true);
  tally.table = table;
  tally.capacity = capacity;
  return true;
}

/** A row of a heap of ranked rows, whose value is a key. */
@inline
export function rankedRow(heap: usize, index: u32): usize {
  return heap + <usize>index * RANKED_ROW_BYTES;
}

@inline
export function keyIn(row: usize): u64 {
  return load<u64>(row, RANKED_ROW_VALUE);
}

@inline
export function timeIn(row: usize): i64 {
  return load<i64>(row, RANKED_ROW_TIME);
}

@inline
export function setRankedRow(row: usize, key: u64, time: i64): void {
  store<u64>(row, key, RANKED_ROW_VALUE);
  store<i64>(row, time, RANKED_ROW_TIME);
}

/** Room for the heap of ranked rows. */
export function growRanked(tallies: Tallies, tally: Tally): bool {
  const capacity: u32 = tally.capacity === 0 ? FIRST_ENTRIES : tally.capacity * 2;
  const table = allocateTable(tallies, <usize>capacity * RANKED_ROW_BYTES);
  if (table === 0) return false;
  memory.copy(table, tally.table, <usize>tally.size * RANKED_ROW_BYTES);
  freeTable(tallies, tally, true);
  tally.table = table;
  tally.capacity = capacity;
  return true;
}

/** Memory of a power of two. */
function allocateTable(tallies: Tallies, bytes: usize): usize {
  if (bytes >= MEMORY_PAGE_BYTES) {
    tallies.pageBytes += bytes;
    return allocatePages(bytes);
  }
  const list = tallies.outgrown + ((<usize>ctz(<u32>bytes)) << 2);
  const free = <usize>load<u32>(list);
  if (free === 0) return allocate(changetype<Arena>(changetype<usize>(tallies)), bytes);
  store<u32>(list, load<u32>(free));
  return free;
}

function freeTable(tallies: Tallies, tally: Tally, isReused: bool): void {
  if (tally.capacity === 0) return;
  const each: usize = tallies.rank !== RANK_NONE ? RANKED_ROW_BYTES : entryBytes(tallies);
  const bytes = <usize>tally.capacity * each;
  if (bytes >= MEMORY_PAGE_BYTES) {
    tallies.pageBytes -= bytes;
    freePages(tally.table, bytes);
  } else if (isReused) {
    const list = tallies.outgrown + ((<usize>ctz(<u32>bytes)) << 2);
    store<u32>(tally.table, load<u32>(list));
    store<u32>(list, <u32>tally.table);
  }
}

function becomeList(tallies: Tallies, tally: Tally): bool {
  for (let i: u32 = 0; i < tally.capacity; i++) {
    const entry = tally.table + <usize>i * entryBytes(tallies);
    for (let left = load<u64>(entry, ENTRY_COUNT); left > 0; left--) {
      if (!appendKey(tallies, tally, load<u64>(entry))) return false;
    }
  }
  freeTable(tallies, tally, true);
  tally.table = 0;
  tally.capacity = 0;
  tally.size = 0;
  return true;
}

/** Appends to the list. Returns false when memory is exhausted. */
@inline
export function appendKey(tallies: Tallies, tally: Tally, key: u64): bool {
  if ((tally.tail === 0 || tally.filled === BLOCK_KEYS) && !addBlock(tallies, tally)) return false;
  store<u64>(tally.tail + 8 + ((<usize>tally.filled) << 3), key);
  tally.filled++;
  return true;
}

function addBlock(tallies: Tallies, tally: Tally): bool {
  const block = allocatePages(MEMORY_PAGE_BYTES);
  if (block === 0) return false;
  tallies.pageBytes += MEMORY_PAGE_BYTES;
  store<u32>(block, 0);
  if (tally.tail === 0) tally.head = block;
  else store<u32>(tally.tail, <u32>block);
  tally.tail = block;
  tally.filled = 0;
  return true;
}

/** Frees the arrays of an order. */
export function freeOrder(tallies: Tallies): void {
  if (tallies.order === 0) return;
  const bytes = (<usize>tallies.orderCount) << 2;
  freePages(tallies.order, bytes);
  freePages(tallies.spare, bytes);
  tallies.pageBytes -= 2 * wholePages(bytes);
  tallies.order = 0;
}

/** The word of a value with this key. */
@inline
export function wordOfKey(tallies: Tallies, tally: Tally, rankedKey: u64): u64 {
  const key = tallies.rank === RANK_BOTTOM ? ~rankedKey : rankedKey;
  if (tallies.kind === VALUE_INTEGER) return key ^ SIGN;
  if (tallies.kind !== VALUE_FLOAT) return key;
  if (key === SIGN && tally.hasNegativeZero !== 0) return SIGN;
  return (key & SIGN) !== 0 ? key ^ SIGN : ~key;
}

export const SIGN: u64 = 0x8000000000000000;

/** Whether a kind has only two values, of which neither is the more frequent by chance. */
@inline
export function isBoolean(tallies: Tallies): bool {
  return tallies.kind === VALUE_BOOLEAN;
}
