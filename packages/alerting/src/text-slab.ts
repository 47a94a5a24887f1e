// Encodes texts into large blocks of bytes. Otherwise each value of the store would be a separate
// buffer until it is written: many small blocks outside the heap, which cost the garbage collector
// more than the values themselves.

const BLOCK_BYTES = 256 * 1024;
/** UTF-8 takes up to three bytes for each UTF-16 unit. */
const BYTES_PER_UNIT_MAX = 3;

export class TextSlab {
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #used = 0;

  /**
   * The text's UTF-8 bytes. They are never overwritten; a block lives as long as any part of it is
   * used.
   */
  encode(text: string): Buffer {
    const bytesMax = text.length * BYTES_PER_UNIT_MAX;
    if (bytesMax > BLOCK_BYTES / 4) return Buffer.from(text);
    if (this.#used + bytesMax > BLOCK_BYTES) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += this.#block.write(text, start);
    return this.#block.subarray(start, this.#used);
  }
}
