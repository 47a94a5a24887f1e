// Where copies of rows lie until they are flushed: parts of large buffers, one behind the other.
//
// A buffer per batch is some hundred kilobytes, which the C library takes from its own heap once it
// has seen a few come and go. Tens of megabytes of them come and go with every flush, and a few
// small things in between keep all of it from going back to the system: 64 MiB at rest after a
// load. Blocks above 32 MiB it maps and unmaps each by itself, and pages of them that are not used
// yet take no memory.

/** Part of a buffer. */
export type RoomPart = { readonly buffer: ArrayBuffer; readonly offset: number };

/** Above the largest block that the C library (glibc) ever takes from its heap. */
const BUFFER_BYTES = 33 << 20;
/** Smaller batches are copied once more, into blocks that they share, and gone soon. */
const OWN_BYTES = 16 << 10;

export class RowRoom {
  /**
   * Held by its parts only: a buffer goes when the last of them does, and nothing is kept at rest.
   */
  #current: WeakRef<ArrayBuffer> | undefined;
  #usedBytes = 0;

  /** Room for so many bytes from a multiple of 8 on, which is nobody else's. */
  take(sizeBytes: number): RoomPart {
    if (sizeBytes < OWN_BYTES || sizeBytes > BUFFER_BYTES) {
      return { buffer: new ArrayBuffer(sizeBytes), offset: 0 };
    }
    let buffer = this.#current?.deref();
    if (buffer === undefined || this.#usedBytes + sizeBytes > BUFFER_BYTES) {
      buffer = new ArrayBuffer(BUFFER_BYTES);
      this.#current = new WeakRef(buffer);
      this.#usedBytes = 0;
    }
    const offset = this.#usedBytes;
    this.#usedBytes = (offset + sizeBytes + 7) & ~7;
    return { buffer, offset };
  }
}
