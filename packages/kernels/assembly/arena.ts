// Arenas: memory that is allocated piece by piece, in chunks, and freed all at once.
import { allocatePages, freePages, wholePages } from './memory';

// Chunks grow from this size: small batches stay small, and large ones waste little at the ends of
// chunks.
const FIRST_CHUNK: usize = 65536;
const NEXT_CHUNK: usize = 262144;
const LARGE_CHUNK: usize = 1048576;
const LARGE_ABOVE: usize = 4194304;

/** A chunk begins with the address of the previous one and its size. */
const CHUNK_HEADER: usize = 8;

@unmanaged
export class Arena {
  /** The newest one. */
  chunk: usize;
  at: usize;
  end: usize;
  bytes: usize;
}

/**
 * Opens an arena that lies at the start of its own first chunk: `bytes` for its fields and what
 * follows them, all zeros besides. Returns its address, 0 when memory is exhausted.
 */
export function openArena(bytes: usize): usize {
  const used = CHUNK_HEADER + bytes;
  const chunk = allocatePages(used);
  if (chunk === 0) return 0;
  memory.fill(chunk, 0, used);
  const size = wholePages(used);
  store<u32>(chunk, <u32>size, 4);
  const address = chunk + CHUNK_HEADER;
  const arena = changetype<Arena>(address);
  arena.chunk = chunk;
  arena.at = (chunk + used + 7) & ~7;
  arena.end = chunk + size;
  arena.bytes = size;
  return address;
}

/**
 * Allocates `bytes` at an address divisible by 8; contents are unspecified. Returns 0 when memory
 * is exhausted.
 */
@inline
export function allocate(arena: Arena, bytes: usize): usize {
  const address = arena.at;
  const after = address + ((bytes + 7) & ~7);
  if (after > arena.end) return allocateSlow(arena, bytes);
  arena.at = after;
  return address;
}

function allocateSlow(arena: Arena, bytes: usize): usize {
  let size = arena.bytes === 0 ? FIRST_CHUNK : arena.bytes > LARGE_ABOVE ? LARGE_CHUNK : NEXT_CHUNK;
  if (bytes + 24 > size) size = (bytes + 24 + 65535) & ~65535;
  const chunk = allocatePages(size);
  if (chunk === 0) return 0;
  store<u32>(chunk, <u32>arena.chunk);
  store<u32>(chunk, <u32>size, 4);
  arena.chunk = chunk;
  arena.bytes += size;
  arena.at = chunk + CHUNK_HEADER + ((bytes + 7) & ~7);
  arena.end = chunk + size;
  return chunk + CHUNK_HEADER;
}

export function freeArena(arena: Arena): void {
  let chunk = arena.chunk;
  while (chunk !== 0) {
    const previous = <usize>load<u32>(chunk);
    freePages(chunk, <usize>load<u32>(chunk, 4));
    chunk = previous;
  }
}
