// Adds rows to tallies.
import {
  AREA_TALLIED_TIMES,
  AREA_TALLIED_VALUES,
  RANK_BOTTOM,
  RANK_NONE,
  RANKED_ROW_BYTES,
  VALUE_BOOLEAN,
  VALUE_FLOAT,
  VALUE_INTEGER,
  VALUE_UNSIGNED,
} from './abi.gen';
import { startOfWindow, timeInWindow } from './accumulators';
import { expandCached } from './cached';
import { scratch } from './memory';
import {
  appendKey,
  ENTRY_COUNT,
  ENTRY_FIRST,
  ENTRY_LAST,
  entryBytes,
  entrySlot,
  growRanked,
  growTable,
  keyIn,
  rankedRow,
  setRankedRow,
  SIGN,
  Tallies,
  Tally,
  tallyOf,
  timeIn,
} from './tallies';
import { windowEnd } from './windows';

@inline
function keyOf<T>(value: T): u64 {
  if (isFloat<T>()) {
    const bits = reinterpret<u64>(<f64>value);
    return (bits & SIGN) !== 0 ? ~bits : bits ^ SIGN;
  }
  if (sizeof<T>() === 8 && isSigned<T>()) return <u64>value ^ SIGN;
  return <u64>value;
}

@inline
function tallyRows<T>(
  tallies: Tallies,
  tally: Tally,
  times: usize,
  values: usize,
  valid: usize,
  from: u32,
  to: u32,
): bool {
  const hasTimes = tallies.hasTimes !== 0;
  const descends = tallies.descends !== 0;
  const bytes = entryBytes(tallies);
  for (let i = from; i < to; i++) {
    if (valid !== 0 && load<u8>(valid + <usize>i) === 0) continue;
    let value = load<T>(values + <usize>i * sizeof<T>());
    let isNegativeZero = false;
    if (isFloat<T>() && value === <T>0) {
      // Both zeros are one value, shown as the first of them.
      isNegativeZero = (reinterpret<u64>(<f64>value) & SIGN) !== 0;
      value = <T>0;
    }
    const key = keyOf<T>(value);
    tally.values++;
    if (tally.head !== 0) {
      if (!appendKey(tallies, tally, key)) return false;
      continue;
    }
    let entry: usize = 0;
    if (tally.size * 3 < tally.capacity * 2) {
      entry = entrySlot(tally.table, tally.capacity, key, bytes);
    } else {
      // Full: a new value needs room, a known one does not.
      if (tally.capacity > 0) entry = entrySlot(tally.table, tally.capacity, key, bytes);
      if (entry === 0 || load<u64>(entry, ENTRY_COUNT) === 0) {
        tally.values--;
        if (!growTable(tallies, tally)) return false;
        tally.values++;
        if (tally.head !== 0) {
          if (!appendKey(tallies, tally, key)) return false;
          continue;
        }
        entry = entrySlot(tally.table, tally.capacity, key, bytes);
      }
    }
    const count = load<u64>(entry, ENTRY_COUNT);
    store<u64>(entry, count + 1, ENTRY_COUNT);
    if (count === 0) {
      store<u64>(entry, key);
      tally.size++;
      if (isNegativeZero) tally.hasNegativeZero = 1;
    }
    if (hasTimes) {
      const time = load<i64>(times + <usize>i * 8);
      if (isFloat<T>() && value === <T>0 && count > 0) {
        const isFirst = descends
          ? time > load<i64>(entry, ENTRY_LAST)
          : time < load<i64>(entry, ENTRY_FIRST);
        if (isFirst) tally.hasNegativeZero = isNegativeZero ? 1 : 0;
      }
      if (count === 0 || time < load<i64>(entry, ENTRY_FIRST)) store<i64>(entry, time, ENTRY_FIRST);
      if (count === 0 || time > load<i64>(entry, ENTRY_LAST)) store<i64>(entry, time, ENTRY_LAST);
    }
  }
  return true;
}

/** Whether row `a` is worse than row `b`; among equal keys the earlier one is better. */
@inline
function isWorse(aKey: u64, aTime: i64, bKey: u64, bTime: i64): bool {
  return aKey < bKey || (aKey === bKey && aTime > bTime);
}

/** Places a row instead of the first of a heap, or below where worse ones are. */
function replaceFirst(heap: usize, size: u32, key: u64, time: i64): void {
  let at: u32 = 0;
  for (;;) {
    let child: u32 = 2 * at + 1;
    if (child >= size) break;
    let entry = rankedRow(heap, child);
    const other = entry + RANKED_ROW_BYTES;
    if (child + 1 < size && isWorse(keyIn(other), timeIn(other), keyIn(entry), timeIn(entry))) {
      child++;
      entry = other;
    }
    if (!isWorse(keyIn(entry), timeIn(entry), key, time)) break;
    memory.copy(rankedRow(heap, at), entry, RANKED_ROW_BYTES);
    at = child;
  }
  setRankedRow(rankedRow(heap, at), key, time);
}

@inline
function rankRows<T>(
  tallies: Tallies,
  tally: Tally,
  times: usize,
  values: usize,
  valid: usize,
  from: u32,
  to: u32,
): bool {
  const flip: u64 = tallies.rank === RANK_BOTTOM ? ~(<u64>0) : 0;
  const most = tallies.rankSize;
  for (let i = from; i < to; i++) {
    if (valid !== 0 && load<u8>(valid + <usize>i) === 0) continue;
    const key = keyOf<T>(load<T>(values + <usize>i * sizeof<T>())) ^ flip;
    tally.values++;
    if (tally.size === most) {
      const worst = tally.table;
      if (key < keyIn(worst)) continue;
      const time = load<i64>(times + <usize>i * 8);
      if (!isWorse(key, time, keyIn(worst), timeIn(worst))) replaceFirst(worst, most, key, time);
      continue;
    }
    if (tally.size === tally.capacity && !growRanked(tallies, tally)) return false;
    const time = load<i64>(times + <usize>i * 8);
    let at = tally.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = rankedRow(tally.table, parent);
      if (!isWorse(key, time, keyIn(above), timeIn(above))) break;
      memory.copy(rankedRow(tally.table, at), above, RANKED_ROW_BYTES);
      at = parent;
    }
    setRankedRow(rankedRow(tally.table, at), key, time);
  }
  return true;
}

/**
 * Whether no row can be among the ranked ones of a tally if its value is not better than this one.
 */
export function isHopeless(address: usize, at: usize, word: u64): bool {
  const tallies = changetype<Tallies>(address);
  const tally = changetype<Tally>(at);
  if (tally.size < tallies.rankSize) return false;
  let key = word;
  if (tallies.kind === VALUE_FLOAT) key = keyOf<f64>(reinterpret<f64>(word));
  else if (tallies.kind === VALUE_INTEGER) key = keyOf<i64>(<i64>word);
  if (tallies.rank === RANK_BOTTOM) key = ~key;
  // Among equal values the time decides.
  return key < keyIn(tally.table);
}

@inline
function hasValue(valid: usize, from: u32, to: u32): bool {
  if (valid === 0) return from < to;
  for (let i = from; i < to; i++) if (load<u8>(valid + <usize>i) !== 0) return true;
  return false;
}

@inline
function addRun<T>(
  tallies: Tallies,
  group: u32,
  times: usize,
  values: usize,
  valid: usize,
  count: u32,
): bool {
  const every = tallies.every;
  const isRanked = tallies.rank !== RANK_NONE;
  let length: u32 = 1;
  let to: u32 = 0;
  for (let from: u32 = 0; from < count; from = to) {
    let start = tallies.start;
    to = count;
    if (every !== 0) {
      const time = load<i64>(times + <usize>from * 8);
      const into = timeInWindow(time, every, tallies.offset);
      start = startOfWindow(time, into);
      to = windowEnd(times, from, count, <u64>(every - into), length);
      length = to - from;
    }
    if (!hasValue(valid, from, to)) continue;
    const at = tallyOf(tallies, group, start);
    if (at === 0) return false;
    const tally = changetype<Tally>(at);
    const isAdded = isRanked
      ? rankRows<T>(tallies, tally, times, values, valid, from, to)
      : tallyRows<T>(tallies, tally, times, values, valid, from, to);
    if (!isAdded) return false;
  }
  return true;
}

/**
 * Adds rows of a group in ascending order of time. `valid` is the address of a byte per row, 1 if
 * it has a value, or 0 if all have. Returns false when memory is exhausted.
 */
export function tally(
  address: usize,
  group: u32,
  times: usize,
  values: usize,
  valid: usize,
  count: u32,
): bool {
  const tallies = changetype<Tallies>(address);
  switch (tallies.kind) {
    case VALUE_FLOAT:
      return addRun<f64>(tallies, group, times, values, valid, count);
    case VALUE_INTEGER:
      return addRun<i64>(tallies, group, times, values, valid, count);
    case VALUE_UNSIGNED:
      return addRun<u64>(tallies, group, times, values, valid, count);
    default:
      return addRun<u8>(tallies, group, times, values, valid, count);
  }
}

/** Adds the rows [from, to) of cached columns of one chunk. Returns false as `tally`. */
export function tallyCached(
  address: usize,
  group: u32,
  timeColumn: usize,
  valueColumn: usize,
  from: u32,
  to: u32,
): bool {
  if (from >= to) return true;
  const rows = <usize>(to - from);
  const times = scratch(AREA_TALLIED_TIMES, rows << 3);
  if (times === 0) return false;
  const width: usize = changetype<Tallies>(address).kind === VALUE_BOOLEAN ? 1 : 8;
  const values = scratch(AREA_TALLIED_VALUES, rows * width);
  if (values === 0) return false;
  expandCached(timeColumn, from, to, times);
  expandCached(valueColumn, from, to, values);
  return tally(address, group, times, values, 0, to - from);
}
