// A list of row numbers that is filled again and again.
import type { PagedNumbers } from './paged-numbers.ts';

export class RowList {
  #rows = new Uint32Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** Adds the rows of a chain, oldest first. `newest` and the links are rows plus one; 0 ends the chain. */
  addChain(newest: number, before: PagedNumbers): void {
    let count = 0;
    for (let row = newest; row !== 0; row = before.get(row - 1)) count++;
    let at = this.#length + count;
    this.#reserve(at);
    this.#length = at;
    const rows = this.#rows;
    for (let row = newest; row !== 0; row = before.get(row - 1)) rows[--at] = row - 1;
  }

  /** A copy of the rows. */
  toArray(): Uint32Array {
    return this.#rows.slice(0, this.#length);
  }

  #reserve(length: number): void {
    if (length <= this.#rows.length) return;
    const grown = new Uint32Array(Math.max(length, this.#rows.length * 2));
    grown.set(this.#rows.subarray(0, this.#length));
    this.#rows = grown;
  }
}
