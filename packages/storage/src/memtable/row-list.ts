// A list of row numbers that is filled again and again.

export class RowList {
  #rows = new Uint32Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** Makes the list longer by `count` rows, which are then filled in from the end; the new length. */
  extend(count: number): number {
    this.#reserve(this.#length + count);
    this.#length += count;
    return this.#length;
  }

  /** Puts rows [first, end) before the place `at`; the place of the first of them. */
  fillBefore(at: number, first: number, end: number): number {
    const start = at - (end - first);
    const rows = this.#rows;
    for (let row = first, i = start; row < end; row++, i++) rows[i] = row;
    return start;
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
