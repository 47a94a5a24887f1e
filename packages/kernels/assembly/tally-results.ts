// Results of tallies. Work on many values is done in passes, of which the caller makes one after
// another.
import {
  ORDER_FIRST,
  ORDER_KEY,
  RANKED_ROW_BYTES,
  RANKED_ROW_TIME,
  RANKED_ROW_VALUE,
} from './abi.gen';
import { allocatePages, freePages, wholePages } from './memory';
import {
  BLOCK_KEYS,
  ENTRY_COUNT,
  ENTRY_FIRST,
  ENTRY_LAST,
  entryBytes,
  freeOrder,
  isBoolean,
  keyIn,
  rankedRow,
  setRankedRow,
  Tallies,
  Tally,
  timeIn,
  wordOfKey,
} from './tallies';

/** How often each byte occurs in the wanted keys at one position. */
const histogram: usize = memory.data(256 * 8, 16);

/**
 * Begins to select the value of a rank, counted from 0, below the number of values. Finds the
 * highest byte in which keys differ.
 */
export function beginSelect(address: usize, at: usize, rank: f64): void {
  const tallies = changetype<Tallies>(address);
  const tally = changetype<Tally>(at);
  let all: u64 = ~(<u64>0);
  let any: u64 = 0;
  if (tally.head === 0) {
    const bytes = entryBytes(tallies);
    for (let i: u32 = 0; i < tally.capacity; i++) {
      const entry = tally.table + <usize>i * bytes;
      if (load<u64>(entry, ENTRY_COUNT) === 0) continue;
      all &= load<u64>(entry);
      any |= load<u64>(entry);
    }
  } else {
    for (let block = tally.head; block !== 0; block = <usize>load<u32>(block)) {
      const count = block === tally.tail ? tally.filled : BLOCK_KEYS;
      for (let i: u32 = 0; i < count; i++) {
        const key = load<u64>(block + 8 + ((<usize>i) << 3));
        all &= key;
        any |= key;
      }
    }
  }
  // Whole bytes that all keys share.
  const shared = <u32>clz(all ^ any) & ~7;
  tallies.mask = shared === 0 ? 0 : ~(<u64>0) << (<u64>(64 - shared));
  tallies.prefix = all & tallies.mask;
  tallies.shift = 64 - shared;
  tallies.selected = <u64>rank;
}

/** Finds the next byte of the wanted key. Returns whether the key is complete. */
export function selectPass(address: usize, at: usize): bool {
  const tallies = changetype<Tallies>(address);
  const tally = changetype<Tally>(at);
  if (tallies.shift === 0) return true;
  const shift = <u64>(tallies.shift - 8);
  const prefix = tallies.prefix;
  const mask = tallies.mask;
  memory.fill(histogram, 0, 256 * 8);
  if (tally.head === 0) {
    const bytes = entryBytes(tallies);
    for (let i: u32 = 0; i < tally.capacity; i++) {
      const entry = tally.table + <usize>i * bytes;
      const key = load<u64>(entry);
      if ((key & mask) === prefix) add((key >> shift) & 255, load<u64>(entry, ENTRY_COUNT));
    }
  } else {
    for (let block = tally.head; block !== 0; block = <usize>load<u32>(block)) {
      const count = block === tally.tail ? tally.filled : BLOCK_KEYS;
      for (let i: u32 = 0; i < count; i++) {
        const key = load<u64>(block + 8 + ((<usize>i) << 3));
        if ((key & mask) === prefix) add((key >> shift) & 255, 1);
      }
    }
  }
  let rank = tallies.selected;
  let byte: u64 = 0;
  for (; byte < 255; byte++) {
    const count = load<u64>(histogram + ((<usize>byte) << 3));
    if (rank < count) break;
    rank -= count;
  }
  tallies.selected = rank;
  tallies.prefix = prefix | (byte << shift);
  tallies.mask = mask | ((<u64>255) << shift);
  tallies.shift = <u32>shift;
  return shift === 0;
}

@inline
function add(byte: u64, count: u64): void {
  const address = histogram + ((<usize>byte) << 3);
  store<u64>(address, load<u64>(address) + count);
}

/** How many values that equal the selected one rank before it. */
export function selectedAmongEqual(address: usize): f64 {
  return <f64>changetype<Tallies>(address).selected;
}

/** The selected value. */
export function selectedValue(address: usize, at: usize): u64 {
  const tallies = changetype<Tallies>(address);
  return wordOfKey(tallies, changetype<Tally>(at), tallies.prefix);
}

/**
 * Begins to order the entries of a table with times: all of them, or the most frequent ones.
 * Returns their number, 0 when memory is exhausted.
 */
export function beginOrder(address: usize, at: usize, onlyMost: bool): u32 {
  const tallies = changetype<Tallies>(address);
  const tally = changetype<Tally>(at);
  const bytes = entryBytes(tallies);
  let least: u64 = 1;
  let count = tally.size;
  if (onlyMost) {
    count = 0;
    for (let i: u32 = 0; i < tally.capacity; i++) {
      const found = load<u64>(tally.table + <usize>i * bytes, ENTRY_COUNT);
      if (found > least) {
        least = found;
        count = 0;
      }
      if (found === least) count++;
    }
  }
  tallies.orderCount = count;
  const size = (<usize>count) << 2;
  const order = allocatePages(size);
  if (order === 0) return 0;
  const spare = allocatePages(size);
  if (spare === 0) {
    freePages(order, size);
    return 0;
  }
  tallies.order = order;
  tallies.spare = spare;
  tallies.pageBytes += 2 * wholePages(size);
  tallies.width = 1;
  tallies.orderTally = at;
  let dst = order;
  for (let i: u32 = 0; i < tally.capacity; i++) {
    const entry = tally.table + <usize>i * bytes;
    if (load<u64>(entry, ENTRY_COUNT) < least) continue;
    store<u32>(dst, <u32>entry);
    dst += 4;
  }
  return count;
}

/** Merges runs of entries in pairs. Returns whether all are in order. */
export function orderPass(address: usize, by: u32): bool {
  const tallies = changetype<Tallies>(address);
  const count = tallies.orderCount;
  const width = tallies.width;
  if (width >= count) return true;
  const source = tallies.order;
  const target = tallies.spare;
  let out = target;
  for (let from: u32 = 0; from < count; from += 2 * width) {
    const middle = min(from + width, count);
    const to = min(from + 2 * width, count);
    let left = from;
    let right = middle;
    while (left < middle && right < to) {
      const a = load<u32>(source + ((<usize>left) << 2));
      const b = load<u32>(source + ((<usize>right) << 2));
      const isLess = isBefore(<usize>b, <usize>a, by);
      store<u32>(out, isLess ? b : a);
      out += 4;
      if (isLess) right++;
      else left++;
    }
    const begin = left < middle ? left : right;
    const rest = (<usize>(left < middle ? middle - left : to - right)) << 2;
    memory.copy(out, source + ((<usize>begin) << 2), rest);
    out += rest;
  }
  tallies.order = target;
  tallies.spare = source;
  tallies.width = width * 2;
  return width * 2 >= count;
}

@inline
function isBefore(a: usize, b: usize, by: u32): bool {
  if (by !== ORDER_KEY) {
    const offset = by === ORDER_FIRST ? ENTRY_FIRST : ENTRY_LAST;
    const aTime = load<i64>(a + offset);
    const bTime = load<i64>(b + offset);
    if (aTime !== bTime) return aTime < bTime;
  }
  return load<u64>(a) < load<u64>(b);
}

/**
 * The mode, of the most frequent entries in the order of their values: the smallest where every
 * value occurs once. Otherwise a larger one wins if it began before the smaller one had ended; of
 * booleans, true.
 */
export function orderedMode(address: usize): u64 {
  const tallies = changetype<Tallies>(address);
  let best = <usize>load<u32>(tallies.order);
  if (load<u64>(best, ENTRY_COUNT) > 1 || isBoolean(tallies)) {
    for (let i: u32 = 1; i < tallies.orderCount; i++) {
      const larger = <usize>load<u32>(tallies.order + ((<usize>i) << 2));
      if (isBoolean(tallies) || load<i64>(larger, ENTRY_FIRST) <= load<i64>(best, ENTRY_LAST)) {
        best = larger;
      }
    }
  }
  return wordOfKey(tallies, changetype<Tally>(tallies.orderTally), load<u64>(best));
}

/** Writes the values of ordered entries. */
export function copyOrdered(address: usize, from: u32, count: u32, dst: usize): void {
  const tallies = changetype<Tallies>(address);
  const tally = changetype<Tally>(tallies.orderTally);
  for (let i = from; i < from + count; i++) {
    const entry = <usize>load<u32>(tallies.order + ((<usize>i) << 2));
    store<u64>(dst, wordOfKey(tallies, tally, load<u64>(entry)));
    dst += 8;
  }
}

export function endOrder(address: usize): void {
  freeOrder(changetype<Tallies>(address));
}

/**
 * Writes value and time of the ranked rows by time, in descending order if wanted; at one time the
 * better one first. Orders the rows of the tally.
 */
export function copyRanked(address: usize, at: usize, descends: bool, dst: usize): u32 {
  const tallies = changetype<Tallies>(address);
  const tally = changetype<Tally>(at);
  const heap = tally.table;
  const size = tally.size;
  for (let i = <i32>(size >> 1) - 1; i >= 0; i--) settle(heap, <u32>i, size, descends);
  for (let end = size; end > 1;) {
    end--;
    swap(heap, rankedRow(heap, end));
    settle(heap, 0, end, descends);
  }
  for (let i: u32 = 0; i < size; i++) {
    const row = rankedRow(heap, i);
    store<u64>(dst, wordOfKey(tallies, tally, keyIn(row)), RANKED_ROW_VALUE);
    store<i64>(dst, timeIn(row), RANKED_ROW_TIME);
    dst += RANKED_ROW_BYTES;
  }
  return size;
}

@inline
function settle(heap: usize, from: u32, size: u32, descends: bool): void {
  for (let at = from; ;) {
    let child: u32 = 2 * at + 1;
    if (child >= size) return;
    let entry = rankedRow(heap, child);
    if (child + 1 < size && isEarlier(entry, entry + RANKED_ROW_BYTES, descends)) {
      child++;
      entry += RANKED_ROW_BYTES;
    }
    const parent = rankedRow(heap, at);
    if (!isEarlier(parent, entry, descends)) return;
    swap(parent, entry);
    at = child;
  }
}

/** Whether row `a` comes before row `b` in the answer. */
@inline
function isEarlier(a: usize, b: usize, descends: bool): bool {
  const aTime = timeIn(a);
  const bTime = timeIn(b);
  if (aTime !== bTime) return aTime < bTime !== descends;
  return keyIn(a) > keyIn(b);
}

@inline
function swap(a: usize, b: usize): void {
  const key = keyIn(a);
  const time = timeIn(a);
  memory.copy(a, b, RANKED_ROW_BYTES);
  setRankedRow(b, key, time);
}
