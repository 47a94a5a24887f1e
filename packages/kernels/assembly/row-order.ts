// The order of a batch's rows by series: readers and flushes go series by series, and then find the
// rows of one side by side.
import { AREA_ID_COUNTS } from './abi.gen';
import { allocatePages, freePages, scratch } from './memory';

/**
 * Rows stay in their order if their ids span more than this many times their number: counting would
 * take too long.
 */
const SPREAD_MAX: u32 = 8;

/** The size of the memory, before the row numbers. */
const HEADER: usize = 8;

/**
 * Address of row numbers (u32), ordered by series id, then by number; `closeRowOrder` frees them. 0
 * when the rows are in this order already, when their ids span too much, or when memory is
 * exhausted.
 */
export function openRowOrder(ids: usize, rows: u32): usize {
  let smallest = u32.MAX_VALUE;
  let largest: u32 = 0;
  let before: u32 = 0;
  let isOrdered = true;
  for (let row: u32 = 0; row < rows; row++) {
    const id = load<u32>(ids + ((<usize>row) << 2));
    if (id < before) isOrdered = false;
    if (id < smallest) smallest = id;
    if (id > largest) largest = id;
    before = id;
  }
  if (isOrdered || (largest - smallest) / SPREAD_MAX >= rows) return 0;
  const spread = largest - smallest + 1;
  const counts = scratch(AREA_ID_COUNTS, (<usize>(spread + 1)) << 2);
  if (counts === 0) return 0;
  const bytes = HEADER + ((<usize>rows) << 2);
  const opened = allocatePages(bytes);
  if (opened === 0) return 0;
  store<u32>(opened, <u32>bytes);
  const order = opened + HEADER;
  memory.fill(counts, 0, (<usize>(spread + 1)) << 2);
  // Counting sort: counts[i + 1] becomes the number of rows of id i, then counts[i] the place of
  // its next row.
  for (let row: u32 = 0; row < rows; row++) {
    const at = counts + ((<usize>(load<u32>(ids + ((<usize>row) << 2)) - smallest + 1)) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  let sum: u32 = 0;
  for (let i: u32 = 0; i <= spread; i++) {
    const at = counts + ((<usize>i) << 2);
    sum += load<u32>(at);
    store<u32>(at, sum);
  }
  for (let row: u32 = 0; row < rows; row++) {
    const at = counts + ((<usize>(load<u32>(ids + ((<usize>row) << 2)) - smallest)) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(order + ((<usize>place) << 2), row);
  }
  return order;
}

export function closeRowOrder(order: usize): void {
  const opened = order - HEADER;
  freePages(opened, <usize>load<u32>(opened));
}

/** output[i] = values[order[i]], for values of 1, 4 or 8 bytes. */
export function gatherRows(
  order: usize,
  rows: u32,
  values: usize,
  width: u32,
  output: usize,
): void {
  const end = order + ((<usize>rows) << 2);
  if (width === 8) {
    for (let at = order; at < end; at += 4, output += 8) {
      store<u64>(output, load<u64>(values + ((<usize>load<u32>(at)) << 3)));
    }
  } else if (width === 4) {
    for (let at = order; at < end; at += 4, output += 4) {
      store<u32>(output, load<u32>(values + ((<usize>load<u32>(at)) << 2)));
    }
  } else {
    for (let at = order; at < end; at += 4, output++) {
      store<u8>(output, load<u8>(values + <usize>load<u32>(at)));
    }
  }
}
