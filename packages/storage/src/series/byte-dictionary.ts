// Byte strings to dense ids, in insertion order: one arena of bytes, one array of ends, one open-addressing hash
// table. An entry costs its bytes plus about 20; no object per entry, so that a million of them does not burden the
// garbage collector.
import { assert } from '@tidemark/core';

const INITIAL_SLOTS = 64;
const INITIAL_ENTRIES = 32;
const INITIAL_ARENA_BYTES = 1024;

export class ByteDictionary {
  #arena: Uint8Array = new Uint8Array(INITIAL_ARENA_BYTES);
  #ends: Uint32Array = new Uint32Array(INITIAL_ENTRIES);
  /** id + 1 per slot, 0 = free. Length is a power of two, at most 3/4 used. */
  #slots: Uint32Array = new Uint32Array(INITIAL_SLOTS);
  #hashes: Uint32Array = new Uint32Array(INITIAL_ENTRIES);
  #count = 0;
  #arenaLength = 0;

  get count(): number {
    return this.#count;
  }

  get memoryBytes(): number {
    return this.#arena.length + this.#ends.byteLength * 2 + this.#slots.byteLength;
  }

  /** Id of the bytes, or -1. */
  find(bytes: Uint8Array): number {
    const mask = this.#slots.length - 1;
    const hash = hashOf(bytes, 0, bytes.length);
    let slot = hash & mask;
    for (;;) {
      const entry = this.#slots[slot]!;
      if (entry === 0) return -1;
      if (this.#hashes[entry - 1] === hash && this.#equals(entry - 1, bytes, 0, bytes.length))
        return entry - 1;
      slot = (slot + 1) & mask;
    }
  }

  /** Id of the bytes, which are copied in when they are new. */
  add(bytes: Uint8Array): number {
    return this.addRange(bytes, 0, bytes.length);
  }

  /** As `add`, for a part of an array: spares a view per entry. */
  addRange(bytes: Uint8Array, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    const hash = hashOf(bytes, start, end);
    let slot = hash & mask;
    for (;;) {
      const entry = this.#slots[slot]!;
      if (entry === 0) break;
      if (this.#hashes[entry - 1] === hash && this.#equals(entry - 1, bytes, start, end))
        return entry - 1;
      slot = (slot + 1) & mask;
    }
    const id = this.#append(bytes, start, end, hash);
    if (this.#count * 4 > this.#slots.length * 3) this.#rehash();
    else this.#slots[slot] = id + 1;
    return id;
  }

  /** A view of the entry's bytes, valid until the next `add`. */
  bytes(id: number): Uint8Array {
    assert(id >= 0 && id < this.#count, 'dictionary id in range');
    return this.#arena.subarray(id === 0 ? 0 : this.#ends[id - 1]!, this.#ends[id]!);
  }

  /** All entries: bytes of entry i end at `ends[i]`, where those of the next begin. Later additions do not change them. */
  entries(): { readonly bytes: Uint8Array; readonly ends: Uint32Array } {
    return {
      bytes: this.#arena.subarray(0, this.#arenaLength),
      ends: this.#ends.subarray(0, this.#count),
    };
  }

  #append(bytes: Uint8Array, start: number, stop: number, hash: number): number {
    const id = this.#count;
    const at = this.#arenaLength;
    const end = at + stop - start;
    assert(end < 2 ** 32, 'dictionary arena fits 32-bit offsets');
    if (end > this.#arena.length) this.#arena = grown(this.#arena, end, Uint8Array);
    if (id >= this.#ends.length) {
      this.#ends = grown(this.#ends, id + 1, Uint32Array);
      this.#hashes = grown(this.#hashes, id + 1, Uint32Array);
    }
    this.#hashes[id] = hash;
    const arena = this.#arena;
    for (let i = start; i < stop; i++) arena[at + i - start] = bytes[i]!;
    this.#arenaLength = end;
    this.#ends[id] = end;
    this.#count = id + 1;
    return id;
  }

  #rehash(): void {
    const slots = new Uint32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let id = 0; id < this.#count; id++) {
      let slot = this.#hashes[id]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.#slots = slots;
  }

  #equals(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = id === 0 ? 0 : this.#ends[id - 1]!;
    const length = this.#ends[id]! - start;
    if (length !== to - from) return false;
    const arena = this.#arena;
    for (let i = 0; i < length; i++) if (arena[start + i] !== bytes[from + i]) return false;
    return true;
  }
}

// Growth by half keeps the slack of large tables small; small ones double.
function grown<T extends Uint8Array | Uint32Array>(
  array: T,
  needed: number,
  make: new (length: number) => T,
): T {
  const doubled = array.length < 1 << 16 ? array.length * 2 : Math.ceil(array.length * 1.5);
  const result = new make(Math.max(needed, doubled));
  result.set(array);
  return result;
}

/** Murmur3 of 32 bits: four bytes a step, and every bit of them reaches every bit of the result. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word =
      bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    hash ^= spread(word);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let shift = 0; at < end; at++, shift += 8) rest |= bytes[at]! << shift;
  hash ^= spread(rest) ^ (end - start);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function spread(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
