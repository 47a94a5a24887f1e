// Memory for request bodies that is used again. New memory of a megabyte has no pages yet: the
// system clears each one when it is first written, which took a tenth of the time that the main
// thread had for a write of 5,000 rows.

/** Smaller bodies are left to the allocator, which uses their memory again itself. */
const BODY_BYTES_MIN = 32 << 10;
/** Memory that is kept. */
const KEPT_BYTES_MAX = 4 << 20;

export class BodyPool {
  /** The last released is the first used: it is in the processor's cache. */
  readonly #free: ArrayBuffer[] = [];
  #freeBytes = 0;
  readonly #given = new WeakSet<ArrayBufferLike>();

  /** Memory for a body, with unspecified contents. */
  acquire(sizeBytes: number): Uint8Array {
    if (sizeBytes < BODY_BYTES_MIN || sizeBytes > KEPT_BYTES_MAX) return new Uint8Array(sizeBytes);
    const at = this.#free.findLastIndex(({ byteLength }) => byteLength >= sizeBytes);
    const [known] = at < 0 ? [] : this.#free.splice(at, 1);
    this.#freeBytes -= known?.byteLength ?? 0;
    const buffer = known ?? new ArrayBuffer(roomFor(sizeBytes));
    this.#given.add(buffer);
    return new Uint8Array(buffer, 0, sizeBytes);
  }

  /**
   * Takes back a body, which must not be read afterwards; false when its memory is not kept, or not
   * from here.
   */
  release({ buffer }: Uint8Array): boolean {
    const { byteLength } = buffer;
    if (!(buffer instanceof ArrayBuffer) || !this.#given.delete(buffer)) return false;
    if (this.#freeBytes + byteLength > KEPT_BYTES_MAX) return false;
    this.#free.push(buffer);
    this.#freeBytes += byteLength;
    return true;
  }
}

/** Bodies of one client have nearly the same size: the memory of one fits the next. */
function roomFor(sizeBytes: number): number {
  return 2 ** Math.ceil(Math.log2(sizeBytes));
}
