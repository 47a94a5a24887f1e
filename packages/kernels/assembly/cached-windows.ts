// Windowed aggregates over cached columns: adds up and compares narrow offsets, and adds the base
// when the window is complete. Results are the same as those of windows.ts.
import {
  AREA_EXPANDED_TIMES,
  VALUE_INTEGER,
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
  baseOf,
  dataOf,
  expandCached,
  FORM_BITS,
  FORM_STEP,
  FORM_U16,
  FORM_U32,
  FORM_U8,
  formOf,
  stepOf,
} from './cached';
import { scratch } from './memory';
import { Accumulator, startOfWindow, timeInWindow } from './accumulators';
import { accumulate, mergeRun, runRoom, windowEnd } from './windows';

// Times of the column that is being added: as a formula (`everyTime`) or an array.
let times: usize = 0;
let isSteady: bool = false;
let firstTime: i64 = 0;
let everyTime: i64 = 0;

function useTimes(column: usize): void {
  times = dataOf(column);
  isSteady = formOf(column) === FORM_STEP;
  firstTime = baseOf(column);
  everyTime = stepOf(column);
}

@inline
function timeOf(row: u32): i64 {
  return isSteady ? firstTime + everyTime * <i64>row : load<i64>(times + <usize>row * 8);
}

@inline
function sumOffsets<T>(data: usize, from: u32, to: u32): u64 {
  let sum: u64 = 0;
  let i = from;
  if (sizeof<T>() === 1 && to - from >= 16) {
    let lanes = i32x4.splat(0);
    for (; i + 16 <= to; i += 16) {
      const bytes = v128.load(data + <usize>i);
      lanes = i32x4.add(lanes, i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(bytes)));
    }
    sum = addLanes(lanes);
  } else if (sizeof<T>() === 2 && to - from >= 8) {
    // Columns are short (CACHED_ROWS_MAX), so no lane overflows.
    let lanes = i32x4.splat(0);
    for (; i + 8 <= to; i += 8) {
      lanes = i32x4.add(lanes, i32x4.extadd_pairwise_i16x8_u(v128.load(data + <usize>i * 2)));
    }
    sum = addLanes(lanes);
  }
  for (; i < to; i++) sum += <u64>load<T>(data + <usize>i * sizeof<T>());
  return sum;
}

@inline
function addLanes(lanes: v128): u64 {
  return (
    <u64>(<u32>i32x4.extract_lane(lanes, 0)) +
    <u64>(<u32>i32x4.extract_lane(lanes, 1)) +
    <u64>(<u32>i32x4.extract_lane(lanes, 2)) +
    <u64>(<u32>i32x4.extract_lane(lanes, 3))
  );
}

/** The first row in [from, to) with the smallest (or largest) offset. */
@inline
function extremeRow<T>(data: usize, from: u32, to: u32, wantsLargest: bool): u32 {
  let row = from;
  let i = from;
  let best = load<T>(data + <usize>from * sizeof<T>());
  if (sizeof<T>() === 1 && to - from >= 32) {
    let lanes = v128.load(data + <usize>i);
    for (i += 16; i + 16 <= to; i += 16) {
      const bytes = v128.load(data + <usize>i);
      lanes = wantsLargest ? i8x16.max_u(lanes, bytes) : i8x16.min_u(lanes, bytes);
    }
    const last = v128.load(data + <usize>(to - 16));
    lanes = wantsLargest ? i8x16.max_u(lanes, last) : i8x16.min_u(lanes, last);
    // Compares the two halves until one byte is left.
    lanes = foldBytes(
      lanes,
      i8x16.shuffle(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7),
      wantsLargest,
    );
    lanes = foldBytes(
      lanes,
      i8x16.shuffle(lanes, lanes, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11),
      wantsLargest,
    );
    lanes = foldBytes(
      lanes,
      i8x16.shuffle(lanes, lanes, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13),
      wantsLargest,
    );
    lanes = foldBytes(
      lanes,
      i8x16.shuffle(lanes, lanes, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14),
      wantsLargest,
    );
    const value = i8x16.extract_lane_u(lanes, 0);
    const wanted = i8x16.splat(<i8>value);
    for (i = from; ; i += 16) {
      const mask = i8x16.bitmask(i8x16.eq(v128.load(data + <usize>i), wanted));
      // Every window has a row with the value, so rows after the window are not found first.
      if (mask !== 0) return i + <u32>ctz(mask);
    }
  }
  for (i = from + 1; i < to; i++) {
    const value = load<T>(data + <usize>i * sizeof<T>());
    if (wantsLargest ? value > best : value < best) {
      best = value;
      row = i;
    }
  }
  return row;
}

@inline
function foldBytes(a: v128, b: v128, wantsLargest: bool): v128 {
  return wantsLargest ? i8x16.max_u(a, b) : i8x16.min_u(a, b);
}

/**
 * The upper half of `rows` times a 64-bit number. Chunks have so few rows that the parts cannot
 * overflow.
 */
@inline
function upperHalfOf(base: i64, rows: u32, isSigned: bool): i64 {
  const low = <u64>(<u32>base) * <u64>rows;
  const high = isSigned ? base >> 32 : <i64>(<u64>base >> 32);
  return (high * <i64>rows + <i64>(low >> 32)) >> 32;
}

@inline
function aggregateOffsets<T>(
  record: usize,
  data: usize,
  base: i64,
  from: u32,
  to: u32,
  wants: u32,
  isSigned: bool,
): void {
  const rows = to - from;
  store<u64>(record, <u64>rows, WINDOW_COUNT);
  store<i64>(record, base + <i64>load<T>(data + <usize>from * sizeof<T>()), WINDOW_FIRST);
  store<i64>(record, timeOf(from), WINDOW_FIRST_TIME);
  store<i64>(record, base + <i64>load<T>(data + <usize>(to - 1) * sizeof<T>()), WINDOW_LAST);
  store<i64>(record, timeOf(to - 1), WINDOW_LAST_TIME);
  if ((wants & WANTS_SUM) !== 0) {
    const offsets = sumOffsets<T>(data, from, to);
    const sum = base * <i64>rows + <i64>offsets;
    store<i64>(record, sum, WINDOW_SUM);
    if ((wants & WANTS_MEAN) !== 0) {
      const carry: i64 = <u64>sum < offsets ? 1 : 0;
      store<i64>(record, upperHalfOf(base, rows, isSigned) + carry, WINDOW_SUM_HIGH);
    }
  }
  if ((wants & WANTS_EXTREMES) !== 0) {
    const least = extremeRow<T>(data, from, to, false);
    const most = extremeRow<T>(data, from, to, true);
    store<i64>(record, base + <i64>load<T>(data + <usize>least * sizeof<T>()), WINDOW_MIN);
    store<i64>(record, timeOf(least), WINDOW_MIN_TIME);
    store<i64>(record, base + <i64>load<T>(data + <usize>most * sizeof<T>()), WINDOW_MAX);
    store<i64>(record, timeOf(most), WINDOW_MAX_TIME);
  }
}

@inline
function endOfWindow(from: u32, to: u32, span: u64, guess: u32): u32 {
  if (!isSteady) return windowEnd(times, from, to, span, guess);
  // Times ascend, so only a single row has no step.
  if (everyTime === 0) return from + 1;
  const rows = (span - 1) / <u64>everyTime + 1;
  return rows < <u64>(to - from) ? from + <u32>rows : to;
}

/** Start of the window found by `endOfRows`. */
let windowStart: i64 = 0;

/**
 * The first row in [from, to) after the window of row `from`. Fastest when the window has `guess`
 * rows.
 */
@inline
function endOfRows(accumulator: Accumulator, from: u32, to: u32, guess: u32): u32 {
  const every = accumulator.every;
  if (every === 0) {
    windowStart = accumulator.start;
    return to;
  }
  const time = timeOf(from);
  const into = timeInWindow(time, every, accumulator.offset);
  windowStart = startOfWindow(time, into);
  return endOfWindow(from, to, <u64>(every - into), guess);
}

/**
 * Computes the windows of rows [from, to) of narrow values in a scratch area. Returns their number.
 */
@inline
function aggregateNarrow<T>(
  accumulator: Accumulator,
  values: usize,
  from: u32,
  to: u32,
  records: usize,
): u32 {
  const wants = accumulator.wants;
  const data = dataOf(values);
  const base = baseOf(values);
  const isSigned = accumulator.kind === VALUE_INTEGER;
  let record = records;
  let found: u32 = 0;
  let length: u32 = 1;
  while (from < to) {
    const next = endOfRows(accumulator, from, to, length);
    length = next - from;
    aggregateOffsets<T>(record, data, base, from, next, wants, isSigned);
    store<i64>(record, windowStart, WINDOW_START);
    record += WINDOW_BYTES;
    found++;
    from = next;
  }
  return found;
}

/** An upper bound of the number of windows of rows [from, to). */
function windowsAtMost(accumulator: Accumulator, from: u32, to: u32): u32 {
  if (accumulator.every === 0) return 1;
  const windows = <u64>(timeOf(to - 1) - timeOf(from)) / <u64>accumulator.every + 2;
  return windows < <u64>(to - from) ? <u32>windows : to - from;
}

/**
 * Adds the rows [from, to) of cached columns of one chunk. Returns false when memory is exhausted.
 */
export function accumulateCached(
  address: usize,
  timeColumn: usize,
  values: usize,
  from: u32,
  to: u32,
): bool {
  if (from >= to) return true;
  const accumulator = changetype<Accumulator>(address);
  useTimes(timeColumn);
  const form = formOf(values);
  if (form !== FORM_U8 && form !== FORM_U16 && form !== FORM_U32) {
    return accumulateWide(address, timeColumn, values, from, to);
  }
  const run = runRoom(windowsAtMost(accumulator, from, to));
  if (run === 0) return false;
  let found: u32;
  if (form === FORM_U8) found = aggregateNarrow<u8>(accumulator, values, from, to, run);
  else if (form === FORM_U16) found = aggregateNarrow<u16>(accumulator, values, from, to, run);
  else found = aggregateNarrow<u32>(accumulator, values, from, to, run);
  return accumulator.kind === VALUE_INTEGER
    ? mergeRun<i64>(accumulator, run, found)
    : mergeRun<u64>(accumulator, run, found);
}

/**
 * Adds the rows [from, to) of a chunk's cached times without values: only windows and counts are
 * meaningful then. For accumulators of booleans. Returns false when memory is exhausted.
 */
export function accumulateRows(address: usize, timeColumn: usize, from: u32, to: u32): bool {
  if (from >= to) return true;
  const accumulator = changetype<Accumulator>(address);
  useTimes(timeColumn);
  const run = runRoom(windowsAtMost(accumulator, from, to));
  if (run === 0) return false;
  let record = run;
  let found: u32 = 0;
  let length: u32 = 1;
  while (from < to) {
    const next = endOfRows(accumulator, from, to, length);
    length = next - from;
    memory.fill(record, 0, WINDOW_BYTES);
    store<i64>(record, windowStart, WINDOW_START);
    store<u64>(record, <u64>length, WINDOW_COUNT);
    store<i64>(record, timeOf(from), WINDOW_FIRST_TIME);
    store<i64>(record, timeOf(next - 1), WINDOW_LAST_TIME);
    record += WINDOW_BYTES;
    found++;
    from = next;
  }
  return mergeRun<u64>(accumulator, run, found);
}

function accumulateWide(
  address: usize,
  timeColumn: usize,
  values: usize,
  from: u32,
  to: u32,
): bool {
  let timesAt = times + <usize>from * 8;
  if (isSteady) {
    timesAt = scratch(AREA_EXPANDED_TIMES, <usize>(to - from) * 8);
    if (timesAt === 0) return false;
    expandCached(timeColumn, from, to, timesAt);
  }
  const width: usize = formOf(values) === FORM_BITS ? 1 : 8;
  return accumulate(address, timesAt, dataOf(values) + <usize>from * width, 0, to - from);
}
