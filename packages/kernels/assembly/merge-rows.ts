// Merges sorted runs of rows. Rows are numbers, by which their times are found in one array. The
// loader (src/merge-rows.ts) splits a merge into steps, so nothing is kept here between calls.

/**
 * Whether the rows [from, to) of `times`, and row `from - 1` before them, are in order; `flip` is
 * -1 for descending order. `allowsEqual` is 1 if equal times are in order.
 */
export function areOrdered(times: usize, from: u32, to: u32, flip: i64, allowsEqual: u32): bool {
  let at = times + ((<usize>max<u32>(from, 1)) << 3);
  const end = times + ((<usize>to) << 3);
  for (; at < end; at += 8) {
    const before = load<i64>(at - 8) ^ flip;
    const time = load<i64>(at) ^ flip;
    if (time < before || (time === before && allowsEqual === 0)) return false;
  }
  return true;
}

let fromLeft: u32 = 0;
let metEqual: u32 = 0;

/** Number of rows that `mergeByTime` took from the left list. */
export function mergedRowsFromLeft(): u32 {
  return fromLeft;
}

/** Whether `mergeByTime` found equal times in both lists. */
export function mergedEqualTimes(): u32 {
  return metEqual;
}

/**
 * Merges two lists of row numbers into `out`, at most `limit` numbers. Returns how many; those not
 * taken from the left list came from the right one. Of equal times, the left one comes first.
 * `flip` -1 complements the times, which reverses their order.
 */
export function mergeByTime(
  times: usize,
  left: usize,
  leftCount: u32,
  right: usize,
  rightCount: u32,
  out: usize,
  limit: u32,
  flip: i64,
): u32 {
  const leftEnd = left + ((<usize>leftCount) << 2);
  const rightEnd = right + ((<usize>rightCount) << 2);
  const total = min(leftCount + rightCount, limit);
  const outEnd = out + ((<usize>total) << 2);
  const first = left;
  metEqual = 0;
  if (leftCount > 0 && rightCount > 0) {
    let leftTime = load<i64>(times + ((<usize>load<u32>(left)) << 3)) ^ flip;
    let rightTime = load<i64>(times + ((<usize>load<u32>(right)) << 3)) ^ flip;
    while (out < outEnd) {
      if (rightTime < leftTime) {
        store<u32>(out, load<u32>(right));
        out += 4;
        right += 4;
        if (right === rightEnd) break;
        rightTime = load<i64>(times + ((<usize>load<u32>(right)) << 3)) ^ flip;
      } else {
        if (rightTime === leftTime) metEqual = 1;
        store<u32>(out, load<u32>(left));
        out += 4;
        left += 4;
        if (left === leftEnd) break;
        leftTime = load<i64>(times + ((<usize>load<u32>(left)) << 3)) ^ flip;
      }
    }
  }
  // One list is finished, or `out` is full.
  if (left < leftEnd && out < outEnd) {
    const bytes = min<usize>(leftEnd - left, outEnd - out);
    memory.copy(out, left, bytes);
    out += bytes;
    left += bytes;
  }
  if (out < outEnd) memory.copy(out, right, outEnd - out);
  fromLeft = <u32>((left - first) >> 2);
  return total;
}

// A heap of runs: this header, then for each run the number of its next row and of the row after
// its last.
const TIMES: usize = 0;
const RANKS: usize = 4;
const RANK_COLUMNS: usize = 8;
const RANK_STRIDE: usize = 12;
const SIZE: usize = 16;
const FLIP: usize = 24;
const HEADER: usize = 32;

/** Size of a heap of `runs` runs. */
export function runHeapBytes(runs: u32): usize {
  return HEADER + ((<usize>runs) << 3);
}

/**
 * Makes a heap of runs, whose first rows and ends (u32 each) are at `bounds`. Rows of equal time
 * are compared by `rankColumns` columns of ranks at `ranks`, each of `rows` u32; rank 0 is not
 * compared.
 */
export function openRunHeap(
  heap: usize,
  times: usize,
  bounds: usize,
  runs: u32,
  ranks: usize,
  rankColumns: u32,
  rows: u32,
  flip: i64,
): void {
  store<u32>(heap, <u32>times, TIMES);
  store<u32>(heap, <u32>ranks, RANKS);
  store<u32>(heap, rankColumns, RANK_COLUMNS);
  store<u32>(heap, rows << 2, RANK_STRIDE);
  store<i64>(heap, flip, FLIP);
  let size: u32 = 0;
  for (let run: u32 = 0; run < runs; run++) {
    const bound = load<u64>(bounds + ((<usize>run) << 3));
    if (<u32>bound === <u32>(bound >> 32)) continue;
    store<u64>(heap + HEADER + ((<usize>size) << 3), bound);
    size++;
  }
  store<u32>(heap, size, SIZE);
  for (let i = <i32>(size >> 1) - 1; i >= 0; i--) sink(heap, <u32>i, size);
}

/**
 * Takes the first rows out of the heap, at most `limit`. Returns how many. The next row of the run
 * is put in at the bottom and moves up: this decides the order of rows that are otherwise equal.
 */
export function takeFromRunHeap(heap: usize, out: usize, limit: u32): u32 {
  let size = load<u32>(heap, SIZE);
  let taken: u32 = 0;
  const entries = heap + HEADER;
  while (taken < limit && size > 0) {
    const row = load<u32>(entries);
    const end = load<u32>(entries, 4);
    store<u32>(out + ((<usize>taken) << 2), row);
    taken++;
    size--;
    store<u64>(entries, load<u64>(entries + ((<usize>size) << 3)));
    sink(heap, 0, size);
    if (row + 1 >= end) continue;
    store<u64>(entries + ((<usize>size) << 3), ((<u64>end) << 32) | <u64>(row + 1));
    rise(heap, size);
    size++;
  }
  store<u32>(heap, size, SIZE);
  return taken;
}

/** Whether row `a` certainly comes before row `b`. */
@inline
function comesFirst(heap: usize, a: u32, b: u32): bool {
  const times = <usize>load<u32>(heap, TIMES);
  const flip = load<i64>(heap, FLIP);
  const x = load<i64>(times + ((<usize>a) << 3)) ^ flip;
  const y = load<i64>(times + ((<usize>b) << 3)) ^ flip;
  if (x !== y) return x < y;
  return isRankedFirst(heap, a, b);
}

function isRankedFirst(heap: usize, a: u32, b: u32): bool {
  const stride = <usize>load<u32>(heap, RANK_STRIDE);
  const columns = load<u32>(heap, RANK_COLUMNS);
  let ranks = <usize>load<u32>(heap, RANKS);
  for (let i: u32 = 0; i < columns; i++, ranks += stride) {
    const p = load<u32>(ranks + ((<usize>a) << 2));
    const q = load<u32>(ranks + ((<usize>b) << 2));
    if (p === 0 || q === 0) return false;
    if (p !== q) return load<i64>(heap, FLIP) === 0 ? p < q : p > q;
  }
  return false;
}

function sink(heap: usize, from: u32, size: u32): void {
  const entries = heap + HEADER;
  let i = from;
  for (;;) {
    const left: u32 = 2 * i + 1;
    if (left >= size) return;
    const right: u32 = left + 1;
    let child: u32 = left;
    if (right < size && isFirstOf(heap, right, left)) child = right;
    if (!isFirstOf(heap, child, i)) return;
    swap(entries + ((<usize>i) << 3), entries + ((<usize>child) << 3));
    i = child;
  }
}

function rise(heap: usize, from: u32): void {
  const entries = heap + HEADER;
  let i = from;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (!isFirstOf(heap, i, parent)) return;
    swap(entries + ((<usize>i) << 3), entries + ((<usize>parent) << 3));
    i = parent;
  }
}

@inline
function isFirstOf(heap: usize, i: u32, j: u32): bool {
  const entries = heap + HEADER;
  return comesFirst(
    heap,
    load<u32>(entries + ((<usize>i) << 3)),
    load<u32>(entries + ((<usize>j) << 3)),
  );
}

@inline
function swap(a: usize, b: usize): void {
  const entry = load<u64>(a);
  store<u64>(a, load<u64>(b));
  store<u64>(b, entry);
}
