// Linear memory as runs of 64 KiB. Everything larger than a page of a column comes from here:
// scratch buffers, hash tables, arenas. Free runs are kept in a table sorted by address and merged,
// so that a table that doubled leaves room that arenas can use. Linear memory never shrinks.
import { AREA_COUNT } from './abi.gen';

/** Smallest unit handed out. */
export const RUN_BYTES: usize = 65536;

// Slack after the last run: decoders load whole 64-bit words and may touch up to 16 bytes behind
// their input.
const SLACK_BYTES: usize = 64;

// 4096 separate holes are far more than doubling tables and 1 MiB arenas can leave; when the table
// is full, the smallest loss is to forget a hole.
const FREE_RUNS_MAX: i32 = 4096;
const freeTable: usize = memory.data(4096 * 8, 16); // (address u32, bytes u32) each
let freeCount: i32 = 0;
let top: usize = 0;

/** Bytes of runs in use. */
let usedBytes: usize = 0;

export function runBytes(bytes: usize): usize {
  return (bytes + RUN_BYTES - 1) & ~(RUN_BYTES - 1);
}

/** Address of a run of at least `bytes`, contents unspecified; 0 when memory cannot grow. */
export function allocateRun(bytes: usize): usize {
  const size = runBytes(bytes);
  for (let i = 0; i < freeCount; i++) {
    const entry = freeTable + <usize>i * 8;
    const length = <usize>load<u32>(entry, 4);
    if (length < size) continue;
    const address = <usize>load<u32>(entry);
    if (length === size) {
      memory.copy(entry, entry + 8, <usize>(freeCount - i - 1) * 8);
      freeCount--;
    } else {
      store<u32>(entry, <u32>(address + size));
      store<u32>(entry, <u32>(length - size), 4);
    }
    usedBytes += size;
    return address;
  }
  if (top === 0) top = runBytes(__heap_base);
  const address = top;
  const wanted = <u64>address + <u64>size + <u64>SLACK_BYTES;
  const present = (<u64>memory.size()) << 16;
  if (wanted > present) {
    const pages = (wanted - present + 65535) >> 16;
    // Each time memory grows the host looks at its garbage: an eighth at once, which costs address
    // space only. Near the end of what there can be, just as much as is needed.
    const generous = max<u64>(pages, <u64>(memory.size() >> 3));
    if (pages > 65536) return 0;
    if (memory.grow(<i32>generous) < 0 && memory.grow(<i32>pages) < 0) return 0;
  }
  top = address + size;
  usedBytes += size;
  return address;
}

/** Gives a run back; `bytes` as it was asked for. */
export function freeRun(address: usize, bytes: usize): void {
  const size = runBytes(bytes);
  usedBytes -= size;
  let i = 0;
  while (i < freeCount && <usize>load<u32>(freeTable + <usize>i * 8) < address) i++;
  const entry = freeTable + <usize>i * 8;
  const previous = entry - 8;
  const joinsPrevious =
    i > 0 && <usize>load<u32>(previous) + <usize>load<u32>(previous, 4) === address;
  const joinsNext = i < freeCount && <usize>load<u32>(entry) === address + size;
  if (joinsPrevious && joinsNext) {
    store<u32>(previous, load<u32>(previous, 4) + <u32>size + load<u32>(entry, 4), 4);
    memory.copy(entry, entry + 8, <usize>(freeCount - i - 1) * 8);
    freeCount--;
  } else if (joinsPrevious) {
    store<u32>(previous, load<u32>(previous, 4) + <u32>size, 4);
  } else if (joinsNext) {
    store<u32>(entry, <u32>address);
    store<u32>(entry, load<u32>(entry, 4) + <u32>size, 4);
  } else if (freeCount < FREE_RUNS_MAX) {
    memory.copy(entry + 8, entry, <usize>(freeCount - i) * 8);
    store<u32>(entry, <u32>address);
    store<u32>(entry, <u32>size, 4);
    freeCount++;
  }
}

/** Bytes of linear memory that are handed out. */
export function memoryInUse(): usize {
  return usedBytes;
}

// An area keeps its run from call to call and only ever grows: (address u32, bytes u32) each.
const areas: usize = memory.data(AREA_COUNT * 8, 16);

/**
 * The scratch area with room for `bytes`; contents are lost when it has to grow. 0 when memory is
 * exhausted.
 */
export function scratch(area: u32, bytes: usize): usize {
  if (area >= AREA_COUNT) unreachable();
  const entry = areas + <usize>area * 8;
  const size = <usize>load<u32>(entry, 4);
  // Slack for decoders, which load whole words.
  const wanted = bytes + SLACK_BYTES;
  if (size >= wanted) return <usize>load<u32>(entry);
  if (size !== 0) freeRun(<usize>load<u32>(entry), size);
  const address = allocateRun(wanted);
  store<u32>(entry, <u32>address);
  store<u32>(entry, address === 0 ? 0 : <u32>runBytes(wanted), 4);
  return address;
}

/** Frees scratch areas above `bytes`, so that one huge request does not hold memory for ever. */
export function trimScratch(bytes: usize): void {
  for (let area: u32 = 0; area < AREA_COUNT; area++) {
    const entry = areas + <usize>area * 8;
    const size = <usize>load<u32>(entry, 4);
    if (size <= bytes || size === 0) continue;
    freeRun(<usize>load<u32>(entry), size);
    store<u64>(entry, 0);
  }
}
