// Windowed aggregates. Rows are added in ascending order of time, series by series, or group by
// group (in any order where there are no windows and no extremes, whose times would depend on it).
// Their windows are computed in a scratch area, then merged into the accumulator. Sums are computed
// from left to right, so that results do not depend on the width of the machine's vectors.
import {
  AREA_WINDOW_RUN,
  RESULT_MEAN,
  VALUE_BOOLEAN,
  VALUE_FLOAT,
  VALUE_INTEGER,
  VALUE_UNSIGNED,
  WANTS_EXTREMES,
  WANTS_MEAN,
  WANTS_SUM,
  WINDOW_BYTES,
  WINDOW_COUNT,
  WINDOW_FIRST,
  WINDOW_FIRST_TIME,
  WINDOW_LAST,
  WINDOW_LAST_TIME,
  WINDOW_MAX,
  WINDOW_MAX_TIME,
  WINDOW_MIN,
  WINDOW_MIN_TIME,
  WINDOW_START,
  WINDOW_SUM,
  WINDOW_SUM_HIGH,
} from './abi.gen';
import {
  Accumulator,
  Accumulators,
  accumulatorOf,
  growRecords,
  startOfWindow,
  timeInWindow,
} from './accumulators';
import { scratch } from './memory';

@inline
function isLess<T>(a: T, b: T): bool {
  return a < b;
}

/**
 * The amount to add to the upper half of a sum, after `value` was added to the lower half, which is
 * `sum` now.
 */
@inline
function upperStep<T>(sum: u64, value: T): i64 {
  const carry: i64 = sum < <u64>value ? 1 : 0;
  return isSigned<T>() ? carry + (<i64>value >> 63) : carry;
}

/** The upper half of the sum of rows [from, to) that have a value. */
@inline
function upperHalf<T>(values: usize, valid: usize, from: u32, to: u32): i64 {
  let low: u64 = 0;
  let high: i64 = 0;
  for (let i = from; i < to; i++) {
    if (valid !== 0 && load<u8>(valid + <usize>i) === 0) continue;
    const value = load<T>(values + <usize>i * sizeof<T>());
    low += <u64>value;
    high += upperStep<T>(low, value);
  }
  return high;
}

/**
 * Finds the first and the last of the rows of several series, which are in the order of time if
 * they have windows. Of those of one time, the one that `mergeRecord` prefers is taken.
 */
@inline
function chooseEnds<T, W>(
  record: usize,
  times: usize,
  values: usize,
  valid: usize,
  first: u32,
  last: u32,
  isOrdered: bool,
  prefersSmallFirst: bool,
): void {
  let firstTime = load<i64>(record, WINDOW_FIRST_TIME);
  for (let i = first + 1; i < last; i++) {
    const time = load<i64>(times + <usize>i * 8);
    if (isOrdered && time !== firstTime) break;
    if (time > firstTime || (valid !== 0 && load<u8>(valid + <usize>i) === 0)) continue;
    const value = <W>load<T>(values + <usize>i * sizeof<T>());
    const held = load<W>(record, WINDOW_FIRST);
    if (time === firstTime && (prefersSmallFirst ? value >= held : value <= held)) continue;
    store<W>(record, value, WINDOW_FIRST);
    store<i64>(record, time, WINDOW_FIRST_TIME);
    firstTime = time;
  }
  let lastTime = load<i64>(record, WINDOW_LAST_TIME);
  for (let i = last - 1; i > first; i--) {
    const time = load<i64>(times + <usize>(i - 1) * 8);
    if (isOrdered && time !== lastTime) break;
    if (time < lastTime || (valid !== 0 && load<u8>(valid + <usize>(i - 1)) === 0)) continue;
    const value = <W>load<T>(values + <usize>(i - 1) * sizeof<T>());
    if (time === lastTime && value <= load<W>(record, WINDOW_LAST)) continue;
    store<W>(record, value, WINDOW_LAST);
    store<i64>(record, time, WINDOW_LAST_TIME);
    lastTime = time;
  }
}

/**
 * Aggregates the rows [from, to) that have a value into one record. Returns false when none has.
 */
@inline
function aggregateRows<T, W>(
  record: usize,
  times: usize,
  values: usize,
  valid: usize,
  from: u32,
  to: u32,
  wants: u32,
  isOfSeveral: bool,
  isOrdered: bool,
  prefersSmallFirst: bool,
): bool {
  let first = from;
  let last = to;
  let count = to - from;
  if (valid !== 0) {
    while (first < to && load<u8>(valid + <usize>first) === 0) first++;
    if (first === to) return false;
    while (load<u8>(valid + <usize>(last - 1)) === 0) last--;
    count = 0;
    for (let i = first; i < last; i++) count += <u32>load<u8>(valid + <usize>i);
  }
  store<u64>(record, <u64>count, WINDOW_COUNT);
  store<W>(record, <W>load<T>(values + <usize>first * sizeof<T>()), WINDOW_FIRST);
  store<i64>(record, load<i64>(times + <usize>first * 8), WINDOW_FIRST_TIME);
  store<W>(record, <W>load<T>(values + <usize>(last - 1) * sizeof<T>()), WINDOW_LAST);
  store<i64>(record, load<i64>(times + <usize>(last - 1) * 8), WINDOW_LAST_TIME);
  if (isOfSeveral) {
    chooseEnds<T, W>(record, times, values, valid, first, last, isOrdered, prefersSmallFirst);
  }
  const isDense = count === last - first;
  if ((wants & WANTS_SUM) !== 0) {
    // The sum begins with the first value, not with 0: the sum of a single −0 is −0.
    let sum: W = <W>load<T>(values + <usize>first * sizeof<T>());
    if (isDense) {
      for (let i = first + 1; i < last; i++) sum += <W>load<T>(values + <usize>i * sizeof<T>());
    } else {
      for (let i = first + 1; i < last; i++) {
        if (load<u8>(valid + <usize>i) !== 0) sum += <W>load<T>(values + <usize>i * sizeof<T>());
      }
    }
    store<W>(record, sum, WINDOW_SUM);
    if (isInteger<T>() && sizeof<T>() === 8 && (wants & WANTS_MEAN) !== 0) {
      store<i64>(record, upperHalf<T>(values, valid, first, last), WINDOW_SUM_HIGH);
    }
  }
  if ((wants & WANTS_EXTREMES) !== 0) {
    let min = load<T>(values + <usize>first * sizeof<T>());
    let max = min;
    let minRow = first;
    let maxRow = first;
    for (let i = first + 1; i < last; i++) {
      if (!isDense && load<u8>(valid + <usize>i) === 0) continue;
      const value = load<T>(values + <usize>i * sizeof<T>());
      if (isLess<T>(value, min)) {
        min = value;
        minRow = i;
      }
      if (isLess<T>(max, value)) {
        max = value;
        maxRow = i;
      }
    }
    store<W>(record, <W>min, WINDOW_MIN);
    store<i64>(record, load<i64>(times + <usize>minRow * 8), WINDOW_MIN_TIME);
    store<W>(record, <W>max, WINDOW_MAX);
    store<i64>(record, load<i64>(times + <usize>maxRow * 8), WINDOW_MAX_TIME);
  }
  return true;
}

/**
 * The first row after `from` whose time is at least `span` after that of `from`. Fastest when it is
 * `guess` rows later.
 */
@inline
export function windowEnd(times: usize, from: u32, count: u32, span: u64, guess: u32): u32 {
  const base = load<i64>(times + <usize>from * 8);
  let low = from; // in the window
  // In a regular series all windows have as many rows as the last one: then two reads are enough.
  let high = from + guess;
  let step: u32 = 1;
  while (high < count && <u64>(load<i64>(times + <usize>high * 8) - base) < span) {
    low = high;
    high = low + step;
    step <<= 1;
  }
  if (high < count && high - low > 1) {
    if (<u64>(load<i64>(times + <usize>(high - 1) * 8) - base) < span) return high;
  }
  if (high > count) high = count;
  // Rows up to `low` are in the window; `high` is not, or is the end.
  while (high - low > 1) {
    const middle = low + ((high - low) >>> 1);
    if (<u64>(load<i64>(times + <usize>middle * 8) - base) < span) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * Computes the windows of a run of rows in a scratch area. Returns the number of windows that are
 * not empty.
 */
@inline
function aggregateRun<T, W>(
  accumulator: Accumulator,
  times: usize,
  values: usize,
  valid: usize,
  count: u32,
  isOfSeveral: bool,
  records: usize,
): u32 {
  const every = accumulator.every;
  const offset = accumulator.offset;
  const wants = accumulator.wants;
  let record = records;
  let found: u32 = 0;
  let from: u32 = 0;
  let length: u32 = 1;
  let previous: i64 = i64.MIN_VALUE;
  const prefersSmallFirst = accumulator.kind === VALUE_BOOLEAN;
  while (from < count) {
    let start = accumulator.start;
    let to = count;
    if (every !== 0) {
      const time = load<i64>(times + <usize>from * 8);
      // Usually the next window: a subtraction instead of a division. `previous` is not set before
      // the first window, and not at the largest times, where the sum would wrap.
      let into = time - previous - every;
      if (
        previous === i64.MIN_VALUE ||
        <u64>into >= <u64>every ||
        <u64>(time - previous) < <u64>every
      ) {
        into = timeInWindow(time, every, offset);
      }
      start = startOfWindow(time, into);
      to = windowEnd(times, from, count, <u64>(every - into), length);
      length = to - from;
      previous = start;
    }
    const hasValues = aggregateRows<T, W>(
      record,
      times,
      values,
      valid,
      from,
      to,
      wants,
      isOfSeveral,
      every !== 0,
      prefersSmallFirst,
    );
    if (hasValues) {
      store<i64>(record, start, WINDOW_START);
      record += WINDOW_BYTES;
      found++;
    }
    from = to;
  }
  return found;
}

@inline
function copyWords(dst: usize, src: usize, offset: usize): void {
  store<u64>(dst + offset, load<u64>(src + offset));
  store<u64>(dst + offset + 8, load<u64>(src + offset + 8));
}

/** Merges record `b` into record `a` of the same window. */
@inline
function mergeRecord<W>(a: usize, b: usize, wants: u32, prefersSmallFirst: bool): void {
  store<u64>(a, load<u64>(a, WINDOW_COUNT) + load<u64>(b, WINDOW_COUNT), WINDOW_COUNT);
  if ((wants & WANTS_SUM) !== 0) {
    store<W>(a, load<W>(a, WINDOW_SUM) + load<W>(b, WINDOW_SUM), WINDOW_SUM);
    if (isInteger<W>() && (wants & WANTS_MEAN) !== 0) {
      const carry: i64 = load<u64>(a, WINDOW_SUM) < load<u64>(b, WINDOW_SUM) ? 1 : 0;
      store<i64>(
        a,
        load<i64>(a, WINDOW_SUM_HIGH) + load<i64>(b, WINDOW_SUM_HIGH) + carry,
        WINDOW_SUM_HIGH,
      );
    }
  }
  if ((wants & WANTS_EXTREMES) !== 0) {
    // Among equal values, the earliest.
    const min = load<W>(b, WINDOW_MIN);
    if (
      min < load<W>(a, WINDOW_MIN) ||
      (min === load<W>(a, WINDOW_MIN) &&
        load<i64>(b, WINDOW_MIN_TIME) < load<i64>(a, WINDOW_MIN_TIME))
    ) {
      copyWords(a, b, WINDOW_MIN);
    }
    const max = load<W>(b, WINDOW_MAX);
    if (
      max > load<W>(a, WINDOW_MAX) ||
      (max === load<W>(a, WINDOW_MAX) &&
        load<i64>(b, WINDOW_MAX_TIME) < load<i64>(a, WINDOW_MAX_TIME))
    ) {
      copyWords(a, b, WINDOW_MAX);
    }
  }
  const aFirst = load<i64>(a, WINDOW_FIRST_TIME);
  const bFirst = load<i64>(b, WINDOW_FIRST_TIME);
  const isBetter = prefersSmallFirst
    ? load<W>(b, WINDOW_FIRST) < load<W>(a, WINDOW_FIRST)
    : load<W>(b, WINDOW_FIRST) > load<W>(a, WINDOW_FIRST);
  if (bFirst < aFirst || (bFirst === aFirst && isBetter)) copyWords(a, b, WINDOW_FIRST);
  const aLast = load<i64>(a, WINDOW_LAST_TIME);
  const bLast = load<i64>(b, WINDOW_LAST_TIME);
  if (bLast > aLast || (bLast === aLast && load<W>(b, WINDOW_LAST) > load<W>(a, WINDOW_LAST))) {
    copyWords(a, b, WINDOW_LAST);
  }
}

/**
 * Merges `count` records, ordered by start, into the accumulator. Returns false when memory is
 * exhausted.
 */
@inline
export function mergeRun<W>(accumulator: Accumulator, run: usize, count: u32): bool {
  const present = accumulator.count;
  const wants = accumulator.wants;
  const prefersSmallFirst = accumulator.kind === VALUE_BOOLEAN;
  if (count === 0) return true;
  // Counts the new windows first, from the end: only these need space.
  let added: u32 = 0;
  // Chunks of a series follow each other, so their first window is usually the last known one, or
  // behind it.
  const begin = load<i64>(run, WINDOW_START);
  let k: u32 =
    present > 0 &&
    load<i64>(accumulator.records + <usize>(present - 1) * WINDOW_BYTES, WINDOW_START) < begin
      ? present
      : 0;
  if (k === present) added = count;
  else
    for (let i: u32 = 0; i < count; i++) {
      const start = load<i64>(run + <usize>i * WINDOW_BYTES, WINDOW_START);
      while (
        k < present &&
        load<i64>(accumulator.records + <usize>k * WINDOW_BYTES, WINDOW_START) < start
      )
        k++;
      if (
        k === present ||
        load<i64>(accumulator.records + <usize>k * WINDOW_BYTES, WINDOW_START) !== start
      )
        added++;
    }
  const total = present + added;
  if (total > accumulator.capacity && !growRecords(accumulator, total)) return false;
  // From the end and in place: records only move if there are new windows, and only once.
  const records = accumulator.records;
  let left = <i32>present - 1;
  let right = <i32>count - 1;
  let out = <i32>total - 1;
  while (right >= 0) {
    const source = run + <usize>right * WINDOW_BYTES;
    const target = records + <usize>out * WINDOW_BYTES;
    const start = load<i64>(source, WINDOW_START);
    if (left >= 0) {
      const other = records + <usize>left * WINDOW_BYTES;
      const otherStart = load<i64>(other, WINDOW_START);
      if (otherStart >= start) {
        if (left !== out) memory.copy(target, other, WINDOW_BYTES);
        if (otherStart === start) {
          mergeRecord<W>(target, source, wants, prefersSmallFirst);
          right--;
        }
        left--;
        out--;
        continue;
      }
    }
    memory.copy(target, source, WINDOW_BYTES);
    right--;
    out--;
  }
  accumulator.count = total;
  changetype<Accumulators>(accumulator.owner).windows += added;
  return true;
}

/**
 * Adds rows of one series in ascending order of time. `valid` is the address of a byte per row, 1
 * if it has a value, or 0 if all have. Returns false when memory is exhausted.
 */
export function accumulate(
  address: usize,
  times: usize,
  values: usize,
  valid: usize,
  count: u32,
): bool {
  return addRun(changetype<Accumulator>(address), times, values, valid, count, false);
}

@inline
function addRun(
  accumulator: Accumulator,
  times: usize,
  values: usize,
  valid: usize,
  count: u32,
  isOfSeveral: bool,
): bool {
  if (count === 0) return true;
  // Every window has at least one row.
  const most = accumulator.every === 0 ? 1 : windowsAtMost(accumulator, times, count);
  const run = runRoom(most);
  if (run === 0) return false;
  let found: u32;
  switch (accumulator.kind) {
    case VALUE_FLOAT:
      found = aggregateRun<f64, f64>(accumulator, times, values, valid, count, isOfSeveral, run);
      return mergeRun<f64>(accumulator, run, found);
    case VALUE_INTEGER:
      found = aggregateRun<i64, i64>(accumulator, times, values, valid, count, isOfSeveral, run);
      return mergeRun<i64>(accumulator, run, found);
    case VALUE_UNSIGNED:
      found = aggregateRun<u64, u64>(accumulator, times, values, valid, count, isOfSeveral, run);
      return mergeRun<u64>(accumulator, run, found);
    default:
      found = aggregateRun<u8, u64>(accumulator, times, values, valid, count, isOfSeveral, run);
      return mergeRun<u64>(accumulator, run, found);
  }
}

/**
 * Adds rows of several groups to their accumulators. `groups` has the number of each row's group
 * (u32), ascending; within a group times ascend. `valid` as in `accumulate`. Returns false when
 * memory is exhausted.
 */
export function accumulateGroups(
  address: usize,
  groups: usize,
  times: usize,
  values: usize,
  valid: usize,
  count: u32,
): bool {
  let to: u32 = 0;
  for (let from: u32 = 0; from < count; from = to) {
    const group = load<u32>(groups + ((<usize>from) << 2));
    to = from + 1;
    while (to < count && load<u32>(groups + ((<usize>to) << 2)) === group) to++;
    const accumulator = changetype<Accumulator>(accumulatorOf(address, group));
    const width: usize = accumulator.kind === VALUE_BOOLEAN ? 1 : 8;
    const isAdded = addRun(
      accumulator,
      times + ((<usize>from) << 3),
      values + <usize>from * width,
      valid === 0 ? 0 : valid + <usize>from,
      to - from,
      true,
    );
    if (!isAdded) return false;
  }
  return true;
}

/** Scratch memory for this many windows. Returns 0 when memory is exhausted. */
export function runRoom(windows: u32): usize {
  return scratch(AREA_WINDOW_RUN, <usize>windows * WINDOW_BYTES);
}

/** An upper bound of the number of windows of the rows. */
function windowsAtMost(accumulator: Accumulator, times: usize, count: u32): u32 {
  const span = <u64>(load<i64>(times + <usize>(count - 1) * 8) - load<i64>(times));
  const windows = span / <u64>accumulator.every + 2;
  return windows < <u64>count ? <u32>windows : count;
}

/** Adds a record of a chunk's statistics. */
export function accumulateRecord(address: usize, record: usize): bool {
  const accumulator = changetype<Accumulator>(address);
  if (accumulator.kind === VALUE_FLOAT) return mergeRun<f64>(accumulator, record, 1);
  if (accumulator.kind === VALUE_INTEGER) return mergeRun<i64>(accumulator, record, 1);
  return mergeRun<u64>(accumulator, record, 1);
}

/** The sum as a float, rounded once; for integers with its upper half. */
@inline
function wholeSum<W>(record: usize): f64 {
  if (isFloat<W>()) return load<f64>(record, WINDOW_SUM);
  let low = load<u64>(record, WINDOW_SUM);
  let high = load<i64>(record, WINDOW_SUM_HIGH);
  const isNegative = isSigned<W>() && high < 0;
  if (isNegative) {
    low = 0 - low;
    high = ~high + <i64>(low === 0);
  }
  let sum = <f64>low;
  if (high !== 0) {
    // Rounding the upper 64 bits gives the right result, if their lowest bit tells whether any bit
    // below is set.
    const shift = <u64>(64 - clz(high));
    const below: u64 = low << (64 - shift) === 0 ? 0 : 1;
    sum = <f64>(((<u64>high) << (64 - shift)) | (low >> shift) | below) * <f64>((<u64>1) << shift);
  }
  return isNegative ? -sum : sum;
}

@inline
function resultOf<W>(record: usize, result: u32): u64 {
  if (result === RESULT_MEAN) {
    return reinterpret<u64>(wholeSum<W>(record) / <f64>load<u64>(record, WINDOW_COUNT));
  }
  if (isFloat<W>())
    return reinterpret<u64>(load<f64>(record, WINDOW_MAX) - load<f64>(record, WINDOW_MIN));
  return load<u64>(record, WINDOW_MAX) - load<u64>(record, WINDOW_MIN);
}

/**
 * Copies a result of all windows to `dst`, in descending order if wanted: word `result` of the
 * record, the mean, or the spread (maximum - minimum).
 */
export function copyResult(address: usize, result: u32, descends: bool, dst: usize): void {
  const accumulator = changetype<Accumulator>(address);
  const count = accumulator.count;
  let record = accumulator.records;
  let step: isize = <isize>WINDOW_BYTES;
  if (descends && count > 0) {
    record += <usize>(count - 1) * WINDOW_BYTES;
    step = -step;
  }
  for (let i: u32 = 0; i < count; i++) {
    let value: u64;
    if (result < RESULT_MEAN) value = load<u64>(record + <usize>result * 8);
    else if (accumulator.kind === VALUE_FLOAT) value = resultOf<f64>(record, result);
    else if (accumulator.kind === VALUE_INTEGER) value = resultOf<i64>(record, result);
    else value = resultOf<u64>(record, result);
    store<u64>(dst, value);
    dst += 8;
    record += step;
  }
}
