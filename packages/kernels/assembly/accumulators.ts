// Accumulators: each has one record per non-empty window, ordered by start. Many are opened at
// once, one for each group of series, and closed together.
import { WINDOW_BYTES } from './abi.gen';
import { allocate, Arena, freeArena, openArena } from './arena';
import { allocatePages, freePages, MEMORY_PAGE_BYTES } from './memory';

@unmanaged
export class Accumulator {
  kind: u32;
  wants: u32;
  every: i64;
  offset: i64;
  /** Start of the only window if `every` is 0. */
  start: i64;
  records: usize;
  count: u32;
  capacity: u32;
  /** Address of the `Accumulators` that it belongs to. */
  owner: usize;
}

/**
 * Accumulators that were opened together; stored at the start of the first chunk of their arena.
 */
@unmanaged
export class Accumulators {
  /** Arena with records, except for those of an accumulator that has pages of its own. */
  chunk: usize;
  at: usize;
  end: usize;
  bytes: usize;
  count: u32;
  /** Number of windows of all of them. */
  windows: u32;
}

/** First capacity of an accumulator that was opened alone: it uses the whole first chunk. */
const FIRST_RECORDS_ALONE: u32 = 512;
const FIRST_RECORDS: u32 = 4;

/**
 * Opens `count` accumulators. With `every` 0 there is one window, which begins at `start`. Returns
 * 0 when memory is exhausted.
 */
export function openAccumulators(
  count: u32,
  kind: u32,
  wants: u32,
  every: i64,
  offset: i64,
  start: i64,
): usize {
  const address = openArena(offsetof<Accumulators>() + <usize>count * offsetof<Accumulator>());
  if (address === 0) return 0;
  changetype<Accumulators>(address).count = count;
  for (let i: u32 = 0; i < count; i++) {
    const accumulator = changetype<Accumulator>(accumulatorOf(address, i));
    accumulator.kind = kind;
    accumulator.wants = wants;
    accumulator.every = every;
    accumulator.offset = every === 0 ? 0 : floorMod(offset, every);
    accumulator.start = start;
    accumulator.owner = address;
  }
  return address;
}

@inline
export function floorMod(value: i64, every: i64): i64 {
  const rest = value % every;
  return rest < 0 ? rest + every : rest;
}

/** How far a time lies in its window; `offset` is below `every`. */
@inline
export function timeInWindow(time: i64, every: i64, offset: i64): i64 {
  const into = floorMod(time, every) - offset;
  return into < 0 ? into + every : into;
}

/**
 * Start of the window in which a time lies so far. The first window of all may begin before the
 * smallest int64: its start is reported as that.
 */
@inline
export function startOfWindow(time: i64, into: i64): i64 {
  return time < i64.MIN_VALUE + into ? i64.MIN_VALUE : time - into;
}

/** Address of one of the accumulators. */
export function accumulatorOf(address: usize, index: u32): usize {
  return address + offsetof<Accumulators>() + <usize>index * offsetof<Accumulator>();
}

export function accumulatorCount(address: usize): u32 {
  return changetype<Accumulator>(address).count;
}

/** The record of its first window; 0 when there is none. */
export function firstWindow(address: usize): usize {
  const accumulator = changetype<Accumulator>(address);
  return accumulator.count === 0 ? 0 : accumulator.records;
}

/** Number of windows of all accumulators. */
export function accumulatedWindows(address: usize): u32 {
  return changetype<Accumulators>(address).windows;
}

/** Removes all windows, but keeps the memory. */
export function resetAccumulator(address: usize): void {
  const accumulator = changetype<Accumulator>(address);
  changetype<Accumulators>(accumulator.owner).windows -= accumulator.count;
  accumulator.count = 0;
}

/** Ensures capacity for `total` records. Returns false when memory is exhausted. */
export function growRecords(accumulator: Accumulator, total: u32): bool {
  let capacity: u32 = accumulator.capacity * 2;
  if (capacity === 0) {
    if (accumulator.every === 0) capacity = 1;
    else {
      const isAlone = changetype<Accumulators>(accumulator.owner).count === 1;
      capacity = isAlone ? FIRST_RECORDS_ALONE : FIRST_RECORDS;
    }
  }
  while (capacity < total) capacity <<= 1;
  const bytes = <usize>capacity * WINDOW_BYTES;
  const isOwn = bytes >= MEMORY_PAGE_BYTES;
  const records = isOwn
    ? allocatePages(bytes)
    : allocate(changetype<Arena>(accumulator.owner), bytes);
  if (records === 0) return false;
  memory.copy(records, accumulator.records, <usize>accumulator.count * WINDOW_BYTES);
  freeRecords(accumulator);
  accumulator.records = records;
  accumulator.capacity = capacity;
  return true;
}

/** Frees the records of an accumulator that has pages of its own. */
function freeRecords(accumulator: Accumulator): void {
  const bytes = <usize>accumulator.capacity * WINDOW_BYTES;
  if (bytes >= MEMORY_PAGE_BYTES) freePages(accumulator.records, bytes);
}

export function closeAccumulators(address: usize): void {
  const count = changetype<Accumulators>(address).count;
  for (let i: u32 = 0; i < count; i++) {
    freeRecords(changetype<Accumulator>(accumulatorOf(address, i)));
  }
  freeArena(changetype<Arena>(address));
}
