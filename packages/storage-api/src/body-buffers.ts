// Reuses the buffers of request bodies, which go to the storage thread, or through a cluster's
// writer, and come back. Allocating one per body would cost the system's time to clear its pages,
// and all threads time to collect garbage. Small bodies, which are copied on their way, lie side by
// side in one buffer, because a buffer costs more than a line does.

const SMALLEST_BYTES = 64 << 10;
/** Bodies up to this size share a buffer. */
const SHARING_BYTES_MAX = 4 << 10;
const SHARED_BYTES = 64 << 10;
/** Larger bodies get a buffer that is not reused. */
const LARGEST_BYTES = 4 << 20;
/** Maximum size of free buffers: twice as much as the largest buffer. */
const KEPT_BYTES_MAX = 8 << 20;
/** Free buffers are dropped when no body has come for this long. */
const IDLE_MS = 5000;

export class BodyBuffers {
  /** Free buffers by size, which is a power of two. */
  readonly #free = new Map<number, ArrayBuffer[]>();
  /** The buffers allocated here. Each holds nothing but one body. */
  readonly #own = new WeakSet<ArrayBuffer>();
  #freeBytes = 0;
  /** The buffer of small bodies, and how much of it is used. */
  #shared = new ArrayBuffer(0);
  #sharedBytes = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  /** Bytes of free buffers. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  /**
   * Memory for a body. Its contents are unspecified, and its buffer may be larger. A small one
   * shares it with others.
   */
  take(sizeBytes: number): Uint8Array<ArrayBuffer> {
    if (sizeBytes <= SHARING_BYTES_MAX) return this.#takeShared(sizeBytes);
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

  #takeShared(sizeBytes: number): Uint8Array<ArrayBuffer> {
    if (this.#sharedBytes + sizeBytes > this.#shared.byteLength) {
      this.#shared = new ArrayBuffer(SHARED_BYTES);
      this.#sharedBytes = 0;
    }
    const start = this.#sharedBytes;
    this.#sharedBytes += sizeBytes;
    return new Uint8Array(this.#shared, start, sizeBytes);
  }

  /** Whether the bytes lie in a buffer of `take`, which therefore holds nothing else. */
  isLent({ buffer }: Uint8Array): boolean {
    return buffer instanceof ArrayBuffer && this.#own.has(buffer);
  }

  /** Takes a buffer back. After it was sent to the thread and returned, it is another object. */
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

  /** Drops the free buffers. */
  clear(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    this.#free.clear();
    this.#freeBytes = 0;
  }
}
