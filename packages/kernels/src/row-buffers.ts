// Memory for copies of rows: until they are flushed, parts of large buffers.
//
// A buffer per batch would have some hundred kilobytes. The C library takes blocks of that size
// from its heap, and a few small blocks that stay in between keep the heap from shrinking: after a
// load, 64 MiB were held at rest. Blocks above 32 MiB are mapped and unmapped one by one, and their
// pages take no memory before they are used.

/** A part of a buffer. */
export type BufferPart = { readonly buffer: ArrayBuffer; readonly offset: number };

/** Memory to which the rows of a batch are copied. */
export interface RowMemory {
  /** Memory of at least `sizeBytes`, aligned to 8 bytes. */
  take(sizeBytes: number): BufferPart;
}

/** Larger than any block that the C library (glibc) takes from its heap. */
const BUFFER_BYTES = 33 << 20;
/**
 * Smaller copies get a buffer of their own, because they are soon copied once more, into blocks
 * that several batches share.
 */
const OWN_BYTES = 16 << 10;

export class RowBuffers implements RowMemory {
  /** A weak reference: the parts hold the buffer, so that it is freed with the last of them. */
  #current: WeakRef<ArrayBuffer> | undefined;
  #usedBytes = 0;

  /** Memory that has no other owner. */
  take(sizeBytes: number): BufferPart {
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

/**
 * For rows that are read at once: one buffer, which the next call overwrites. Allocating buffers
 * repeatedly would make V8 collect the whole heap as often.
 */
export class ScratchBuffer implements RowMemory {
  #buffer = new ArrayBuffer(OWN_BYTES);

  take(sizeBytes: number): BufferPart {
    if (sizeBytes > BUFFER_BYTES) return { buffer: new ArrayBuffer(sizeBytes), offset: 0 };
    if (sizeBytes > this.#buffer.byteLength)
      this.#buffer = new ArrayBuffer(2 ** Math.ceil(Math.log2(sizeBytes)));
    return { buffer: this.#buffer, offset: 0 };
  }
}
