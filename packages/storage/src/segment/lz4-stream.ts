// Unpacks an LZ4 block piece by piece, keeping the last 64 KiB of output: no match reaches further
// back. For blocks that are too large for the kernel, which unpacks a block as a whole.
import { DecodeError } from '../columns/bytes.ts';

const WINDOW_BYTES = 1 << 16;
const WINDOW_MASK = WINDOW_BYTES - 1;
const READ_BYTES = 256 << 10;
const MIN_MATCH = 4;

export class Lz4Stream {
  readonly #read: (offset: number, length: number) => Uint8Array;
  /** Bytes of the block from `#inputOffset` on, and the next one to take. */
  #input: Uint8Array = new Uint8Array(0);
  #inputOffset = 0;
  #at = 0;
  /** The output so far, at most its last 64 KiB. */
  readonly #window = new Uint8Array(WINDOW_BYTES);
  #unpacked = 0;
  /** Bytes left of the literals, then of the match, of the current sequence. */
  #literals = 0;
  #match = 0;
  #distance = 0;
  /** Length of the match as in the token; its distance follows the literals. */
  #matchCode: number | undefined;

  /** `read` returns bytes of the block, fewer than requested at its end. */
  constructor(read: (offset: number, length: number) => Uint8Array) {
    this.#read = read;
  }

  /** The next bytes. Throws `DecodeError` when the block ends too early or is invalid. */
  next(length: number): Uint8Array {
    const target = new Uint8Array(length);
    this.#unpack(length, target);
    return target;
  }

  skip(length: number): void {
    this.#unpack(length, undefined);
  }

  #unpack(length: number, target: Uint8Array | undefined): void {
    const window = this.#window;
    let done = 0;
    while (done < length) {
      if (this.#literals > 0) {
        if (this.#at === this.#input.length) this.#fill();
        const count = Math.min(this.#literals, length - done, this.#input.length - this.#at);
        for (let i = 0; i < count; i++) {
          const byte = this.#input[this.#at + i]!;
          window[(this.#unpacked + i) & WINDOW_MASK] = byte;
          if (target !== undefined) target[done + i] = byte;
        }
        this.#at += count;
        this.#literals -= count;
        this.#unpacked += count;
        done += count;
      } else if (this.#match > 0) {
        const count = Math.min(this.#match, length - done);
        const from = this.#unpacked - this.#distance;
        for (let i = 0; i < count; i++) {
          const byte = window[(from + i) & WINDOW_MASK]!;
          window[(this.#unpacked + i) & WINDOW_MASK] = byte;
          if (target !== undefined) target[done + i] = byte;
        }
        this.#match -= count;
        this.#unpacked += count;
        done += count;
      } else this.#nextStep();
    }
  }

  /** Starts the match of the current sequence, or the next sequence. */
  #nextStep(): void {
    if (this.#matchCode !== undefined) {
      this.#distance = this.#byte() | (this.#byte() << 8);
      if (this.#distance === 0 || this.#distance > this.#unpacked) throw damaged();
      this.#match = this.#length(this.#matchCode) + MIN_MATCH;
      this.#matchCode = undefined;
      return;
    }
    const token = this.#byte();
    this.#literals = this.#length(token >> 4);
    this.#matchCode = token & 15;
  }

  #length(code: number): number {
    let length = code;
    for (let more = code === 15 ? 255 : 0; more === 255;) length += more = this.#byte();
    return length;
  }

  #byte(): number {
    if (this.#at === this.#input.length) this.#fill();
    return this.#input[this.#at++]!;
  }

  #fill(): void {
    this.#inputOffset += this.#input.length;
    this.#input = this.#read(this.#inputOffset, READ_BYTES);
    this.#at = 0;
    if (this.#input.length === 0) throw damaged();
  }
}

function damaged(): DecodeError {
  return new DecodeError('packed texts contradict themselves');
}
