// Linear memory of one owner, which finds in it what he has left there.
import type { Kernels } from './loader.ts';

/** Grows as needed and is kept until `close`; what is in it is lost when it grows. */
export class KernelRoom {
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

  /** Address of room for so many bytes. Throws `Unavailable` when linear memory is exhausted. */
  reserve(sizeBytes: number): number {
    // Decoders may load and filters may store some bytes behind the end.
    const wanted = sizeBytes + SLACK_BYTES;
    if (wanted > this.#sizeBytes) {
      this.close();
      this.#address = this.#kernels.allocate(wanted);
      this.#sizeBytes = wanted;
    }
    return this.#address;
  }

  /** Gives the memory back when it is more than that. */
  trim(sizeBytes: number): void {
    if (this.#sizeBytes > sizeBytes) this.close();
  }

  /** Gives the memory back; `reserve` takes some anew. Idempotent. */
  close(): void {
    if (this.#sizeBytes > 0) this.#kernels.free(this.#address, this.#sizeBytes);
    this.#address = 0;
    this.#sizeBytes = 0;
  }
}

const SLACK_BYTES = 64;
