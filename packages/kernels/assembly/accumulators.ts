// Accumulators: each holds one record per non-empty window, ordered by start. They are opened many
// at a time, one for each group of series, and are closed together.
import { WINDOW_BYTES } from './abi.gen';
import { allocate, Arena, freeArena } from './arena';
import { allocateRun, freeRun, RUN_BYTES, runBytes } from './memory';

@unmanaged
export class Accumulator {
  kind: u32;
  wants: u32;
  every: i64;
  offset: i64;
  /** Start of the only window when `every` is 0. */
  start: i64;
  records: usize;
  count: u32;
  capacity: u32;
  /** The accumulators that it was opened with. */
  owner: usize;
}

/** The accumulators that were opened together; at the start of the first chunk of their arena. */
@unmanaged
export class Accumulators {
  /** Records, up to those of an accumulator that fill a run of their own. */
  chunk: usize;
  at: usize;
  end: usize;
  bytes: usize;
  count: u32;
  /** Of all accumulators together. */
  windows: u32;
}

/** Chunks of an arena begin with the address of the one before and their size. */
const CHUNK_HEADER: usize = 8;
/** First capacity of an accumulator that was opened alone: what the first chunk has room for. */
const FIRST_RECORDS_ALONE: u32 = 512;
const FIRST_RECORDS: u32 = 4;

/**
 * `count` new accumulators; `every` 0 means one window that begins at `start`. 0 when memory is
 * exhausted.
 */
export function openAccumulators(
  count: u32,
  kind: u32,
  wants: u32,
  every: i64,
  offset: i64,
  start: i64,
): usize {
  const header = CHUNK_HEADER + offsetof<Accumulators>();
  const wanted = header + <usize>count * offsetof<Accumulator>();
  const chunk = allocateRun(wanted);
  if (chunk === 0) return 0;
  memory.fill(chunk, 0, wanted);
  store<u32>(chunk, <u32>runBytes(wanted), 4);
  const address = chunk + CHUNK_HEADER;
  const all = changetype<Accumulators>(address);
  all.chunk = chunk;
  all.at = (chunk + wanted + 7) & ~7;
  all.end = chunk + runBytes(wanted);
  all.bytes = runBytes(wanted);
  all.count = count;
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

/** One of the accumulators. */
export function accumulatorOf(address: usize, index: u32): usize {
  return address + offsetof<Accumulators>() + <usize>index * offsetof<Accumulator>();
}

export function accumulatorCount(address: usize): u32 {
  return changetype<Accumulator>(address).count;
}

/** Windows of all accumulators. */
export function accumulatedWindows(address: usize): u32 {
  return changetype<Accumulators>(address).windows;
}

/** Forgets all windows, but keeps the memory. */
export function resetAccumulator(address: usize): void {
  const accumulator = changetype<Accumulator>(address);
  changetype<Accumulators>(accumulator.owner).windows -= accumulator.count;
  accumulator.count = 0;
}

/** Room for `total` records at least; false when memory is exhausted. */
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
  const isOwn = bytes >= RUN_BYTES;
  const records = isOwn
    ? allocateRun(bytes)
    : allocate(changetype<Arena>(accumulator.owner), bytes);
  if (records === 0) return false;
  memory.copy(records, accumulator.records, <usize>accumulator.count * WINDOW_BYTES);
  freeRecords(accumulator);
  accumulator.records = records;
  accumulator.capacity = capacity;
  return true;
}

/** Frees the records if they have a run of memory of their own. */
function freeRecords(accumulator: Accumulator): void {
  const bytes = <usize>accumulator.capacity * WINDOW_BYTES;
  if (bytes >= RUN_BYTES) freeRun(accumulator.records, bytes);
}

export function closeAccumulators(address: usize): void {
  const count = changetype<Accumulators>(address).count;
  for (let i: u32 = 0; i < count; i++) {
    freeRecords(changetype<Accumulator>(accumulatorOf(address, i)));
  }
  freeArena(changetype<Arena>(address));
}
