// Rows of a batch by series: readers and flushes take rows series by series, and find those of a
// batch side by side.
import { AREA_ID_COUNTS } from './abi.gen';
import { allocateRun, freeRun, scratch } from './memory';

/**
 * Ids further apart than this many times the number of rows are left as they are: counting them
 * costs too much.
 */
const SPREAD_MAX: u32 = 8;

/** In front of the row numbers of an order: the size of its memory. */
const HEADER: usize = 8;

/**
 * Address of the row numbers (u32) by series id, those of one id ascending, until `closeRowOrder`.
 * 0 when the rows are in this order already, their ids lie too far apart, or memory is exhausted.
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
  const opened = allocateRun(bytes);
  if (opened === 0) return 0;
  store<u32>(opened, <u32>bytes);
  const order = opened + HEADER;
  memory.fill(counts, 0, (<usize>(spread + 1)) << 2);
  // counts[i + 1] becomes the number of rows of id i, then counts[i] the place of the next one.
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
  freeRun(opened, <usize>load<u32>(opened));
}

/** output[i] = values[order[i]]; values are `width` bytes wide: 1, 4 or 8. */
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
