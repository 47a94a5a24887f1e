// Batches that some tasks of a host get later than others. Each crosses to the host once and is
// named by its number from then on. Both ends remember the same batches, because they add and
// forget them by the same rule, in the order of the messages.
import { assert } from '@tidemark/core';

/**
 * What one end remembers at most: enough for the distance between the fastest and the slowest task
 * of a host. The oldest batches are forgotten first; who needs one later is sent it again.
 */
export const REMEMBERED_BYTES_MAX = 16 << 20;

export class RememberedBatches<T> {
  readonly #batches = new Map<number, { readonly value: T; readonly sizeBytes: number }>();
  readonly #forgotten: (value: T) => void;
  #last = 0;
  #sizeBytes = 0;

  /** `forgotten` is told of each that is not remembered any more. */
  constructor(forgotten: (value: T) => void = () => undefined) {
    this.#forgotten = forgotten;
  }

  /** Returns its number; at most `REMEMBERED_BYTES_MAX`. */
  add(value: T, sizeBytes: number): number {
    this.#batches.set(++this.#last, { value, sizeBytes });
    this.#sizeBytes += sizeBytes;
    for (const number of this.#batches.keys()) {
      if (this.#sizeBytes <= REMEMBERED_BYTES_MAX) break;
      this.forget(number);
    }
    return this.#last;
  }

  get(number: number): T {
    const found = this.#batches.get(number);
    assert(found !== undefined, 'the other end names remembered batches only');
    return found.value;
  }

  forget(number: number): void {
    const found = this.#batches.get(number);
    assert(found !== undefined, 'only remembered batches are forgotten');
    this.#batches.delete(number);
    this.#sizeBytes -= found.sizeBytes;
    this.#forgotten(found.value);
  }
}
