// Buffers of request bodies that go to the storage thread and come back: a new one for each body
// costs the system's time to clear its pages, and both threads that of collecting it.

const SMALLEST_BYTES = 64 << 10;
/** Larger bodies get buffers of their own. */
const LARGEST_BYTES = 4 << 20;
/** What waits for the next body: four of the largest that clients commonly send. */
const KEPT_BYTES_MAX = 8 << 20;
/** Nobody keeps memory for a load that is over. */
const IDLE_MS = 5000;

export class BodyBuffers {
  /** By size, a power of two. */
  readonly #free = new Map<number, ArrayBuffer[]>();
  /** Buffers that were given out here: they hold nothing else. */
  readonly #own = new WeakSet<ArrayBuffer>();
  #freeBytes = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  /** Bytes that wait for the next body. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** Room for a body. Its contents are unspecified; the buffer behind it is larger perhaps. */
  take(sizeBytes: number): Uint8Array<ArrayBuffer> {
    if (sizeBytes < SMALLEST_BYTES / 4 || sizeBytes > LARGEST_BYTES) {
      return new Uint8Array(sizeBytes);
    }
    const classBytes = Math.max(SMALLEST_BYTES, 2 ** Math.ceil(Math.log2(sizeBytes)));
    let buffer = this.#free.get(classBytes)?.pop();
    if (buffer === undefined) {
      buffer = new ArrayBuffer(classBytes);
      this.#own.add(buffer);
    } else this.#freeBytes -= classBytes;
    return new Uint8Array(buffer, 0, sizeBytes);
  }

  /** Whether the buffer of these bytes is one of these, and holds nothing else. */
  isLent({ buffer }: Uint8Array): boolean {
    return buffer instanceof ArrayBuffer && this.#own.has(buffer);
  }

  /** A buffer is back from the thread, as another object. */
  giveBack(buffer: ArrayBuffer): void {
    const { byteLength } = buffer;
    const isOfClass =
      byteLength >= SMALLEST_BYTES && 2 ** Math.round(Math.log2(byteLength)) === byteLength;
    if (!isOfClass || this.#freeBytes + byteLength > KEPT_BYTES_MAX) return;
    this.#own.add(buffer);
    const same = this.#free.get(byteLength);
    if (same === undefined) this.#free.set(byteLength, [buffer]);
    else same.push(buffer);
    this.#freeBytes += byteLength;
    this.#idleTimer ??= setTimeout(() => this.clear(), IDLE_MS).unref();
    this.#idleTimer.refresh();
  }

  /** Forgets what waits. */
  clear(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    this.#free.clear();
    this.#freeBytes = 0;
  }
}
