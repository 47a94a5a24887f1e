// Reads a table ordered by (series, time). Rows are ordered by series with a radix sort that is kept until many rows
// have come; rows behind it are found by scanning. Rows of a series are in arrival order, which is time order for
// almost all of them; the others are merge-sorted. Equal times become one row, later values winning.
import { allocateRun, freeRun, scratch } from './memory';
import {
  Column,
  columnOf,
  dropOrder,
  seriesOfRow,
  Table,
  timeOfRow,
  valueOfRow,
  widthOfType,
} from './table';

// New rows are scanned until they are as many as this and an eighth of the ordered ones.
const UNORDERED_MIN: u32 = 4096;

const SCRATCH_COUNTS = 12;
const SCRATCH_SWAP = 13;
const SCRATCH_ROWS = 14;
const SCRATCH_OUT = 15;
const SCRATCH_TIMES = 16;
const SCRATCH_SERIES = 17;
const SCRATCH_STARTS = 18;
const SCRATCH_MERGE = 19;
const SCRATCH_VALUES = 20;

/** Sorts row numbers [0, count) by series, keeping their order within a series. Result in `rows`. */
function orderRows(table: Table, count: u32, rows: usize): bool {
  const swap = scratch(SCRATCH_SWAP, <usize>count * 4);
  const counts = scratch(SCRATCH_COUNTS, 2048 * 4);
  if (swap === 0 || counts === 0) return false;
  let all: u32 = 0;
  const first = seriesOfRow(table, 0);
  for (let row: u32 = 0; row < count; row++) {
    store<u32>(rows + <usize>row * 4, row);
    all |= seriesOfRow(table, row) ^ first;
  }
  let from = rows;
  let to = swap;
  for (let shift: u32 = 0; shift < 32; shift += 11) {
    // Digits that are the same in all ids need no pass.
    if (((all >>> shift) & 2047) === 0) continue;
    memory.fill(counts, 0, 2048 * 4);
    for (let row: u32 = 0; row < count; row++) {
      const slot = counts + <usize>((seriesOfRow(table, row) >>> shift) & 2047) * 4;
      store<u32>(slot, load<u32>(slot) + 1);
    }
    let sum: u32 = 0;
    for (let i: usize = 0; i < 2048; i++) {
      const slot = counts + i * 4;
      const size = load<u32>(slot);
      store<u32>(slot, sum);
      sum += size;
    }
    for (let i: u32 = 0; i < count; i++) {
      const row = load<u32>(from + <usize>i * 4);
      const slot = counts + <usize>((seriesOfRow(table, row) >>> shift) & 2047) * 4;
      const position = load<u32>(slot);
      store<u32>(slot, position + 1);
      store<u32>(to + <usize>position * 4, row);
    }
    const other = from;
    from = to;
    to = other;
  }
  if (from !== rows) memory.copy(rows, from, <usize>count * 4);
  return true;
}

/** Brings the kept order up to date if it is worth it. */
function refreshOrder(table: Table, wantsAll: bool): bool {
  const count = table.rowCount;
  const behind = count - table.orderCount;
  if (behind === 0) return true;
  if (!wantsAll && (behind <= UNORDERED_MIN || behind <= table.orderCount / 8)) return true;
  dropOrder(table);
  const rows = allocateRun(<usize>count * 4);
  if (rows === 0) return false;
  if (!orderRows(table, count, rows)) {
    freeRun(rows, <usize>count * 4);
    return false;
  }
  table.order = rows;
  table.orderCount = count;
  return true;
}

// The selection: rows in output order, the output row of each, output rows, series and where they start.
let selected: u32 = 0;
let outputRows: u32 = 0;
let seriesTotal: u32 = 0;
let rowsAt: usize = 0;
let outAt: usize = 0;
let timesAt: usize = 0;
let seriesAt: usize = 0;
let startsAt: usize = 0;
let rangeStart: i64 = 0;
let rangeEnd: i64 = 0;
let rowLimit: u32 = 0;

export function selectedRows(): u32 {
  return outputRows;
}
export function selectedSeries(): u32 {
  return seriesTotal;
}
export function selectedTimes(): usize {
  return timesAt;
}
export function selectedSeriesIds(): usize {
  return seriesAt;
}
export function selectedStarts(): usize {
  return startsAt;
}

@inline
function take(table: Table, row: u32): void {
  const time = timeOfRow(table, row);
  if (row >= rowLimit || time < rangeStart || time > rangeEnd) return;
  store<u32>(rowsAt + <usize>selected * 4, row);
  // Times of selected rows, until finishSeries turns them into times of output rows, which are not more.
  store<i64>(timesAt + <usize>selected * 8, time);
  selected++;
}

/** Sorts rows [from, selected) by time, equal times in arrival order: bottom-up merges of ascending runs. */
function sortByTime(from: u32): bool {
  const count = selected - from;
  const rows = rowsAt + <usize>from * 4;
  const times = timesAt + <usize>from * 8;
  const swap = scratch(SCRATCH_MERGE, <usize>count * 12);
  if (swap === 0) return false;
  const swapTimes = swap;
  const swapRows = swap + <usize>count * 8;
  while (true) {
    // One pass merges neighbouring runs; nearly sorted input has few.
    let position: u32 = 0;
    let runs = 0;
    while (position < count) {
      let middle = position + 1;
      while (
        middle < count &&
        load<i64>(times + <usize>middle * 8) >= load<i64>(times + <usize>(middle - 1) * 8)
      ) {
        middle++;
      }
      let end = middle;
      if (middle < count) {
        end++;
        while (
          end < count &&
          load<i64>(times + <usize>end * 8) >= load<i64>(times + <usize>(end - 1) * 8)
        ) {
          end++;
        }
      }
      let left = position;
      let right = middle;
      for (let out = position; out < end; out++) {
        const takesLeft =
          right >= end ||
          (left < middle && load<i64>(times + <usize>left * 8) <= load<i64>(times + <usize>right * 8));
        const source = takesLeft ? left++ : right++;
        store<i64>(swapTimes + <usize>out * 8, load<i64>(times + <usize>source * 8));
        store<u32>(swapRows + <usize>out * 4, load<u32>(rows + <usize>source * 4));
      }
      position = end;
      runs++;
    }
    memory.copy(times, swapTimes, <usize>count * 8);
    memory.copy(rows, swapRows, <usize>count * 4);
    if (runs <= 1) return true;
  }
}

/** Finishes a series whose rows are [from, selected): sorts, merges equal times, numbers the output rows. */
function finishSeries(series: u32, from: u32): bool {
  if (selected === from) return true;
  let previous = load<i64>(timesAt + <usize>from * 8);
  for (let i = from + 1; i < selected; i++) {
    const time = load<i64>(timesAt + <usize>i * 8);
    if (time < previous) {
      if (!sortByTime(from)) return false;
      break;
    }
    previous = time;
  }
  store<u32>(seriesAt + <usize>seriesTotal * 4, series);
  store<u32>(startsAt + <usize>seriesTotal * 4, outputRows);
  seriesTotal++;
  let out = outputRows;
  previous = load<i64>(timesAt + <usize>from * 8);
  store<i64>(timesAt + <usize>out * 8, previous);
  for (let i = from; i < selected; i++) {
    const time = load<i64>(timesAt + <usize>i * 8);
    if (time !== previous) {
      out++;
      previous = time;
    }
    store<i64>(timesAt + <usize>out * 8, time);
    store<u32>(outAt + <usize>i * 4, out);
  }
  outputRows = out + 1;
  return true;
}

function reserve(rows: u32, series: u32): bool {
  rowsAt = scratch(SCRATCH_ROWS, <usize>rows * 4);
  outAt = scratch(SCRATCH_OUT, <usize>rows * 4);
  timesAt = scratch(SCRATCH_TIMES, <usize>rows * 8);
  seriesAt = scratch(SCRATCH_SERIES, <usize>series * 4);
  startsAt = scratch(SCRATCH_STARTS, <usize>(series + 1) * 4);
  return rowsAt !== 0 && outAt !== 0 && timesAt !== 0 && seriesAt !== 0 && startsAt !== 0;
}

/** First position in the kept order whose series is not below `series`. */
function searchOrder(table: Table, series: u32): u32 {
  let low: u32 = 0;
  let high = table.orderCount;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (seriesOfRow(table, load<u32>(table.order + <usize>middle * 4)) < series) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Selects rows below `limit` of all series, inclusive times. False when memory is exhausted. */
export function selectAll(tableAddress: usize, limit: u32, start: i64, end: i64): bool {
  const table = changetype<Table>(tableAddress);
  selected = 0;
  outputRows = 0;
  seriesTotal = 0;
  rowLimit = limit;
  rangeStart = start;
  rangeEnd = end;
  if (table.rowCount === 0) return reserve(0, 0);
  if (!refreshOrder(table, true)) return false;
  const count = table.orderCount;
  if (!reserve(count, count)) return false;
  let series = seriesOfRow(table, load<u32>(table.order));
  let from: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(table.order + <usize>i * 4);
    const next = seriesOfRow(table, row);
    if (next !== series) {
      if (!finishSeries(series, from)) return false;
      series = next;
      from = selected;
    }
    take(table, row);
  }
  if (!finishSeries(series, from)) return false;
  store<u32>(startsAt + <usize>seriesTotal * 4, outputRows);
  return true;
}

/** Like selectAll for `count` series whose increasing ids lie at `ids`. */
export function selectSeries(
  tableAddress: usize,
  ids: usize,
  count: u32,
  limit: u32,
  start: i64,
  end: i64,
): bool {
  const table = changetype<Table>(tableAddress);
  selected = 0;
  outputRows = 0;
  seriesTotal = 0;
  rowLimit = limit;
  rangeStart = start;
  rangeEnd = end;
  // The scan of new rows is repeated for each series: with many of them ordering is cheaper.
  if (table.rowCount > 0 && !refreshOrder(table, count > 8)) return false;
  // Every row is taken once at most, since ids increase.
  if (!reserve(table.rowCount, count)) return false;
  for (let i: u32 = 0; i < count; i++) {
    const series = load<u32>(ids + <usize>i * 4);
    const from = selected;
    for (let k = searchOrder(table, series); k < table.orderCount; k++) {
      const row = load<u32>(table.order + <usize>k * 4);
      if (seriesOfRow(table, row) !== series) break;
      take(table, row);
    }
    for (let row = table.orderCount; row < table.rowCount && row < limit; row++) {
      if (seriesOfRow(table, row) === series) take(table, row);
    }
    if (!finishSeries(series, from)) return false;
  }
  store<u32>(startsAt + <usize>seriesTotal * 4, outputRows);
  return true;
}

let gatheredNulls: u32 = 0;

/** Rows of the last gathered column that have no value. */
export function gatherNulls(): u32 {
  return gatheredNulls;
}

/**
 * Collects a field of the selected rows: values (8 bytes each, 1 for booleans, for strings address and length), then a
 * validity byte per row. Returns the address, 0 when memory is exhausted. The table must have the field.
 */
export function gather(tableAddress: usize, field: u32): usize {
  const table = changetype<Table>(tableAddress);
  const column = changetype<Column>(columnOf(table, field));
  const width = widthOfType(column.type);
  const values = scratch(SCRATCH_VALUES, <usize>outputRows * (width + 1));
  if (values === 0) return 0;
  const valid = values + <usize>outputRows * width;
  memory.fill(values, 0, <usize>outputRows * (width + 1));
  if (width === 1) {
    for (let i: u32 = 0; i < selected; i++) {
      const source = valueOfRow(column, load<u32>(rowsAt + <usize>i * 4), 1);
      if (source === 0) continue;
      const out = <usize>load<u32>(outAt + <usize>i * 4);
      store<u8>(values + out, load<u8>(source));
      store<u8>(valid + out, 1);
    }
  } else {
    for (let i: u32 = 0; i < selected; i++) {
      const source = valueOfRow(column, load<u32>(rowsAt + <usize>i * 4), 8);
      if (source === 0) continue;
      const out = <usize>load<u32>(outAt + <usize>i * 4);
      store<u64>(values + out * 8, load<u64>(source));
      store<u8>(valid + out, 1);
    }
  }
  let present: u32 = 0;
  for (let i: u32 = 0; i < outputRows; i++) present += <u32>load<u8>(valid + <usize>i);
  gatheredNulls = outputRows - present;
  return values;
}
