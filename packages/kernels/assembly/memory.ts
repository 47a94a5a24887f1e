// Allocates linear memory in pages of 64 KiB: for scratch areas, hash tables, arenas. Free ranges
// are in a table, sorted by address and merged, so that arenas can use what a growing table leaves.
// Linear memory never shrinks.
import { AREA_COUNT } from './abi.gen';

/** Size of a page, the unit of allocation. */
export const MEMORY_PAGE_BYTES: usize = 65536;

// Space after the last page: decoders read whole words, up to 16 bytes after their input.
const SLACK_BYTES: usize = 64;

// Far more holes than growing tables and arenas of 1 MiB can leave. When the table is full, the
// memory of a hole is lost.
const FREE_RANGES_MAX: i32 = 4096;
const freeTable: usize = memory.data(4096 * 8, 16); // (address u32, bytes u32) each
let freeCount: i32 = 0;
let top: usize = 0;

/** Bytes of allocated pages. */
let usedBytes: usize = 0;

export function wholePages(bytes: usize): usize {
  return (bytes + MEMORY_PAGE_BYTES - 1) & ~(MEMORY_PAGE_BYTES - 1);
}

/**
 * Allocates pages for `bytes`; contents are unspecified. Returns 0 when memory cannot grow.
 */
export function allocatePages(bytes: usize): usize {
  const size = wholePages(bytes);
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
  if (top === 0) top = wholePages(__heap_base);
  const address = top;
  const wanted = <u64>address + <u64>size + <u64>SLACK_BYTES;
  const present = (<u64>memory.size()) << 16;
  if (wanted > present) {
    const pages = (wanted - present + 65535) >> 16;
    // The host collects garbage whenever memory grows, so it grows by an eighth, which takes
    // address space only. Near the maximum it grows by what is needed.
    const generous = max<u64>(pages, <u64>(memory.size() >> 3));
    if (pages > 65536) return 0;
    if (memory.grow(<i32>generous) < 0 && memory.grow(<i32>pages) < 0) return 0;
  }
  top = address + size;
  usedBytes += size;
  return address;
}

/**
 * As `allocatePages`, filled with zeros. Pages that no one has used hold zeros, and take no memory
 * until something is written to them.
 */
export function allocateZeros(bytes: usize): usize {
  const end = top;
  const address = allocatePages(bytes);
  if (address !== 0 && address < end) memory.fill(address, 0, bytes);
  return address;
}

/** Frees pages; `bytes` is the requested size. */
export function freePages(address: usize, bytes: usize): void {
  const size = wholePages(bytes);
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
  } else if (freeCount < FREE_RANGES_MAX) {
    memory.copy(entry + 8, entry, <usize>(freeCount - i) * 8);
    store<u32>(entry, <u32>address);
    store<u32>(entry, <u32>size, 4);
    freeCount++;
  }
}

/** Bytes of linear memory in use. */
export function memoryInUse(): usize {
  return usedBytes;
}

// Scratch areas: (address u32, bytes u32) each. An area keeps its pages between calls and only
// grows.
const areas: usize = memory.data(AREA_COUNT * 8, 16);

/**
 * Address of a scratch area with at least `bytes` bytes; growing loses its contents. Returns 0 when
 * memory is exhausted.
 */
export function scratch(area: u32, bytes: usize): usize {
  if (area >= AREA_COUNT) unreachable();
  const entry = areas + <usize>area * 8;
  const size = <usize>load<u32>(entry, 4);
  // Slack for decoders, which read whole words.
  const wanted = bytes + SLACK_BYTES;
  if (size >= wanted) return <usize>load<u32>(entry);
  if (size !== 0) freePages(<usize>load<u32>(entry), size);
  const address = allocatePages(wanted);
  store<u32>(entry, <u32>address);
  store<u32>(entry, address === 0 ? 0 : <u32>wholePages(wanted), 4);
  return address;
}

/**
 * Frees scratch areas larger than `bytes`, so that a single huge request does not hold memory
 * forever.
 */
export function trimScratch(bytes: usize): void {
  for (let area: u32 = 0; area < AREA_COUNT; area++) {
    const entry = areas + <usize>area * 8;
    const size = <usize>load<u32>(entry, 4);
    if (size <= bytes || size === 0) continue;
    freePages(<usize>load<u32>(entry), size);
    store<u64>(entry, 0);
  }
}
