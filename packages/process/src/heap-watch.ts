// Keeps the heap of a thread close to its live size. V8 lets a heap grow to three times its size
// after the last collection before it collects again: with 256 MiB of strings held by a query, 800
// MiB were resident.
import { getHeapStatistics } from 'node:v8';

/** What a thread does to its heap; replaced in tests. */
export type HeapControl = {
  /**
   * Bytes of objects and of their buffers, in use or not yet collected; takes some microseconds.
   */
  readonly usedBytes: () => number;
  readonly collect: () => void;
};

/**
 * The engine collects by itself when buffers have grown by tens of megabytes, though not always.
 */
const BUFFERS_SHARE = 1 / 2;

const OWN_HEAP: HeapControl = {
  usedBytes: () => {
    const { used_heap_size: objects, external_memory: buffers } = getHeapStatistics();
    return objects + BUFFERS_SHARE * buffers;
  },
  // Absent where the program was started without `--expose-gc`: the engine collects when it wants.
  collect: () => void globalThis.gc?.({ type: 'major' }),
};

export class HeapWatch {
  readonly #growthBytes: number;
  readonly #heap: HeapControl;
  /** The least that was in use since the last collection. */
  #leastBytes = Infinity;

  /** Collects when the heap has grown by so much. */
  constructor(growthBytes: number, heap = OWN_HEAP) {
    this.#growthBytes = growthBytes;
    this.#heap = heap;
  }

  /** Called wherever objects of some megabytes have been made. */
  look(): void {
    const usedBytes = this.#heap.usedBytes();
    this.#leastBytes = Math.min(this.#leastBytes, usedBytes);
    if (usedBytes - this.#leastBytes >= this.#growthBytes) this.collect();
  }

  /** Collects now: much of what was in use is not any more. */
  collect(): void {
    this.#heap.collect();
    this.#leastBytes = this.#heap.usedBytes();
  }
}
