// Ids of the series of a segment, in the order in which they are written. Numbers of their own size: an array of a million
// takes 8 MiB and as much again whenever it grows.
import { assert } from '@tidemark/core';
import type { SeriesId } from '../series/series-index.ts';

export class AscendingIds {
  #ids = new Uint32Array(1024);
  #length = 0;

  push(id: SeriesId): void {
    assert(this.#length === 0 || id > this.#ids[this.#length - 1]!, 'series ascend');
    if (this.#length === this.#ids.length) {
      const grown = new Uint32Array(this.#length * 2);
      grown.set(this.#ids);
      this.#ids = grown;
    }
    this.#ids[this.#length++] = id;
  }

  /** A copy of all of them. */
  toArray(): Uint32Array {
    return this.#ids.slice(0, this.#length);
  }
}
