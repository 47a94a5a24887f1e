// Keeps the heap of a thread close to its live size. V8 lets a heap grow to three times its size
// after the last collection before it collects again: with 256 MiB of strings held by a query, 800
// MiB were resident.
import { getHeapStatistics } from 'node:v8';

import { trimMemorySoon } from './trim-memory.ts';

/** Heap functions of a thread; replaced in tests. */
export type HeapControl = {
  /** Bytes of objects and their buffers, in use or not yet collected; takes some microseconds. */
  readonly usedBytes: () => number;
  readonly collect: () => void;
  /**
   * Collects, and gives the pages that are free then back to the system, those of the C library a
   * moment later: takes three times as long.
   */
  readonly release: () => void;
};

/** The engine collects by itself when buffers have grown by tens of megabytes, but not always. */
const BUFFERS_SHARE = 1 / 2;

const OWN_HEAP: HeapControl = {
  usedBytes: () => {
    const { used_heap_size: objects, external_memory: buffers } = getHeapStatistics();
    return objects + BUFFERS_SHARE * buffers;
  },
  // Without `--expose-gc` this does nothing: the engine decides when to collect.
  collect: () => void globalThis.gc?.({ type: 'major' }),
  release: () => {
    void globalThis.gc?.({ type: 'major', flavor: 'last-resort' });
    trimMemorySoon();
  },
};

/** What held this much took long enough that a collection behind it costs little. */
export const MUCH_BYTES = 32 << 20;

/** The heap size is checked once per this many bytes. */
const LOOK_BYTES = 4 << 20;

export class HeapWatch {
  readonly #growthBytes: number;
  readonly #heap: HeapControl;
  /** The smallest size since the last collection, without held bytes. */
  #leastBytes = Infinity;
  #heldBytes = 0;
  /** Bytes allocated or let go since the heap size was last checked. */
  #changedBytes = 0;

  /** Collects when the heap has grown by `growthBytes`. */
  constructor(growthBytes: number, heap = OWN_HEAP) {
    this.#growthBytes = growthBytes;
    this.#heap = heap;
  }

  /** Counts objects that nobody holds for long. */
  made(sizeBytes: number): void {
    this.#changedBytes += sizeBytes;
    if (this.#changedBytes < LOOK_BYTES) return;
    this.#changedBytes = 0;
    const restBytes = this.#restBytes();
    this.#leastBytes = Math.min(this.#leastBytes, restBytes);
    if (restBytes - this.#leastBytes >= this.#growthBytes) this.collect();
  }

  /** Counts objects that are held until `letGo`. */
  hold(sizeBytes: number): void {
    this.#heldBytes += sizeBytes;
    this.made(sizeBytes);
  }

  /**
   * Objects of `hold` are no longer held. The next allocation may collect them; now their holder
   * may still refer to them.
   */
  letGo(sizeBytes: number): void {
    this.#heldBytes -= sizeBytes;
    this.#changedBytes += sizeBytes;
  }

  /** Collects now, because many objects are no longer in use. */
  collect(): void {
    this.#heap.collect();
    this.#leastBytes = this.#restBytes();
  }

  /**
   * As `collect`, when nothing else of such size follows. The pages of the heap go back to the
   * system: V8 keeps them otherwise, which was 250 MiB behind a query of 200 MB of texts.
   */
  release(): void {
    this.#heap.release();
    this.#leastBytes = this.#restBytes();
  }

  /** The size of the heap without held objects: nearly constant, except for garbage. */
  #restBytes(): number {
    return this.#heap.usedBytes() - this.#heldBytes;
  }
}
