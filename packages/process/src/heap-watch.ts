// Keeps the heap of a thread close to its live size. V8 lets a heap grow to three times its size
// after the last collection before it collects again: with 256 MiB of strings held by a query, 800
// MiB were resident.
import { getHeapStatistics } from 'node:v8';

/** Heap functions of a thread; replaced in tests. */
export type HeapControl = {
  /** Bytes of objects and their buffers, in use or not yet collected; takes some microseconds. */
  readonly usedBytes: () => number;
  readonly collect: () => void;
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
};

export class HeapWatch {
  readonly #growthBytes: number;
  readonly #heap: HeapControl;
  /** The smallest size since the last collection. */
  #leastBytes = Infinity;

  /** Collects when the heap has grown by `growthBytes`. */
  constructor(growthBytes: number, heap = OWN_HEAP) {
    this.#growthBytes = growthBytes;
    this.#heap = heap;
  }

  /** Call it after creating objects of some megabytes. */
  look(): void {
    const usedBytes = this.#heap.usedBytes();
    this.#leastBytes = Math.min(this.#leastBytes, usedBytes);
    if (usedBytes - this.#leastBytes >= this.#growthBytes) this.collect();
  }

  /** Collects now, because many objects are no longer in use. */
  collect(): void {
    this.#heap.collect();
    this.#leastBytes = this.#heap.usedBytes();
  }
}
