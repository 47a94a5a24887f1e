// A growing buffer of UTF-8 text. Text is appended and taken in pieces.
import {
  releaseBuffer,
  LARGE_BUFFER_BYTES,
  SMALL_BUFFER_BYTES,
  acquireLarge,
  acquireSmall,
} from './buffer-pool.ts';

const SHORT_TEXT = 128;

const encoder = new TextEncoder();

/** Nothing was written yet, or everything has been taken. */
const NONE: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/** Text in UTF-8. The array that `take` returns belongs to the caller. */
export class TextBuffer {
  #bytes = NONE;
  #length = 0;
  /** The last piece was long, so the next one is expected to be long as well. */
  #isLong = false;

  get length(): number {
    return this.#length;
  }

  /** Appends a text of ASCII characters only. */
  ascii(text: string): void {
    const count = text.length;
    this.#reserve(count);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < count; i++) bytes[at++] = text.charCodeAt(i);
    this.#length = at;
  }

  /** Appends any text. */
  text(text: string): void {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    this.#reserve(text.length * 3);
    if (text.length <= SHORT_TEXT && this.#shortAscii(text)) return;
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(this.#length));
    this.#length += written;
  }

  /** Faster than the encoder for a hundred characters; `false` when there are others than ASCII. */
  #shortAscii(text: string): boolean {
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return false;
      bytes[at++] = unit;
    }
    this.#length = at;
    return true;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  bytes(values: Uint8Array): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /** Appends a few bytes: faster than `bytes` below a hundred of them. */
  short(values: Uint8Array): void {
    const count = values.length;
    this.#reserve(count);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < count; i++) bytes[at++] = values[i]!;
    this.#length = at;
  }

  /** Room for this many bytes at the end, which the caller fills and then `commit`s. */
  room(count: number): { readonly bytes: Uint8Array; readonly at: number } {
    this.#reserve(count);
    return { bytes: this.#bytes, at: this.#length };
  }

  commit(count: number): void {
    this.#length += count;
  }

  /** Everything so far; the buffer is empty afterwards. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    releaseBuffer(this.#bytes);
    this.#bytes = NONE;
    return taken;
  }

  /**
   * As `take`, but long text is not copied: whoever has finished with it gives its buffer back
   * (`releaseBuffer`), or leaves it to the collector.
   */
  handOver(): Uint8Array {
    if (this.#length < SMALL_BUFFER_BYTES) return this.take();
    const text = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    this.#isLong = true;
    this.#bytes = NONE;
    return text;
  }

  /** Drops everything after an earlier length. */
  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    if (this.#bytes === NONE) this.#bytes = this.#isLong ? acquireLarge() : acquireSmall();
    if (needed <= this.#bytes.length) return;
    const before = this.#bytes;
    const bytes = larger(needed, before.length);
    bytes.set(before.subarray(0, this.#length));
    releaseBuffer(before);
    this.#bytes = bytes;
  }
}

/** A buffer of at least `needed` bytes, to replace one of `size`. */
function larger(needed: number, size: number): Uint8Array<ArrayBuffer> {
  if (needed <= SMALL_BUFFER_BYTES) {
    return new Uint8Array(Math.max(needed, Math.min(2 * size, SMALL_BUFFER_BYTES)));
  }
  return needed <= LARGE_BUFFER_BYTES ? acquireLarge() : new Uint8Array(Math.max(needed, 2 * size));
}
