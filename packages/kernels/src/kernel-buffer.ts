// A part of linear memory that one owner keeps between calls.
import type { Kernels } from './loader.ts';

/** Grows on demand, which loses its contents, and is kept until `close`. */
export class KernelBuffer {
  readonly #kernels: Kernels;
  #address = 0;
  #sizeBytes = 0;

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  /** 0 before the first `reserve`. */
  get address(): number {
    return this.#address;
  }

  /**
   * Returns the address of at least `sizeBytes` bytes. Throws `Unavailable` when linear memory is
   * exhausted.
   */
  reserve(sizeBytes: number): number {
    // Decoders may read, and filters may write, some bytes after the end.
    const wanted = sizeBytes + SLACK_BYTES;
    if (wanted > this.#sizeBytes) {
      this.close();
      this.#address = this.#kernels.allocate(wanted);
      this.#sizeBytes = wanted;
    }
    return this.#address;
  }

  /** Frees the memory if it is larger than this. */
  trim(sizeBytes: number): void {
    if (this.#sizeBytes > sizeBytes) this.close();
  }

  /** Frees the memory; the next `reserve` allocates again. Idempotent. */
  close(): void {
    if (this.#sizeBytes > 0) this.#kernels.free(this.#address, this.#sizeBytes);
    this.#address = 0;
    this.#sizeBytes = 0;
  }
}

const SLACK_BYTES = 64;
