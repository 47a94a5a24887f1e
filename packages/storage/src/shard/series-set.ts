// Set of series ids as a bitmap that starts at its smallest member's page.

const PAGE_BITS = 1 << 15;

export class SeriesSet {
  readonly #pages = new Map<number, Uint32Array>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Pages in memory, of 4 KiB each. */
  get pageCount(): number {
    return this.#pages.size;
  }

  has(id: number): boolean {
    const page = this.#pages.get(Math.floor(id / PAGE_BITS));
    if (page === undefined) return false;
    const bit = id % PAGE_BITS;
    return ((page[bit >>> 5]! >>> (bit & 31)) & 1) === 1;
  }

  /** `true` when the id was not a member. */
  add(id: number): boolean {
    const pageNumber = Math.floor(id / PAGE_BITS);
    let page = this.#pages.get(pageNumber);
    if (page === undefined) {
      page = new Uint32Array(PAGE_BITS / 32);
      this.#pages.set(pageNumber, page);
    }
    const bit = id % PAGE_BITS;
    const mask = 1 << (bit & 31);
    if ((page[bit >>> 5]! & mask) !== 0) return false;
    page[bit >>> 5]! |= mask;
    this.#size++;
    return true;
  }

  /** `true` when the id was a member. */
  delete(id: number): boolean {
    if (!this.has(id)) return false;
    const page = this.#pages.get(Math.floor(id / PAGE_BITS))!;
    const bit = id % PAGE_BITS;
    page[bit >>> 5]! &= ~(1 << (bit & 31));
    this.#size--;
    return true;
  }

  clone(): SeriesSet {
    const copy = new SeriesSet();
    for (const [pageNumber, page] of this.#pages) copy.#pages.set(pageNumber, page.slice());
    copy.#size = this.#size;
    return copy;
  }

  /** Members in no particular order. */
  *[Symbol.iterator](): Generator<number> {
    for (const [pageNumber, page] of this.#pages) {
      for (let word = 0; word < page.length; word++) {
        for (let bits = page[word]!; bits !== 0; bits &= bits - 1) {
          yield pageNumber * PAGE_BITS + word * 32 + (31 - Math.clz32(bits & -bits));
        }
      }
    }
  }
}
