// A set of series ids: pages of a bitmap. Empty pages do not exist, and a page is as long as its
// largest id needs.

const PAGE_BITS = 1 << 15;
/**
 * V8 keeps so short arrays in its heap, where they cost least: very many shards have few series.
 */
const LEAST_WORDS = 16;

/** A set that belongs to somebody else. */
export type ReadonlySeriesSet = Pick<
  SeriesSet,
  'size' | 'pageCount' | 'has' | 'clone' | typeof Symbol.iterator
>;

export class SeriesSet {
  readonly #pages = new Map<number, Uint32Array>();
  #size = 0;
  /** The page used last: ids usually come in order. */
  #lastNumber = -1;
  #lastPage: Uint32Array | undefined;

  get size(): number {
    return this.#size;
  }

  /** Number of pages, each of 4 KiB at most. */
  get pageCount(): number {
    return this.#pages.size;
  }

  has(id: number): boolean {
    const page = this.#pageOf(Math.floor(id / PAGE_BITS));
    if (page === undefined) return false;
    const bit = id % PAGE_BITS;
    return (((page[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
  }

  /** Returns whether the id was new. */
  add(id: number): boolean {
    const pageNumber = Math.floor(id / PAGE_BITS);
    const bit = id % PAGE_BITS;
    let page = this.#pageOf(pageNumber);
    if (page === undefined || page.length <= bit >>> 5) {
      page = this.#enlarge(pageNumber, page, (bit >>> 5) + 1);
    }
    const mask = 1 << (bit & 31);
    if ((page[bit >>> 5]! & mask) !== 0) return false;
    page[bit >>> 5]! |= mask;
    this.#size++;
    return true;
  }

  /** Returns whether the id was in the set. */
  delete(id: number): boolean {
    if (!this.has(id)) return false;
    const page = this.#pageOf(Math.floor(id / PAGE_BITS))!;
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

  #pageOf(number: number): Uint32Array | undefined {
    if (number !== this.#lastNumber) {
      this.#lastNumber = number;
      this.#lastPage = this.#pages.get(number);
    }
    return this.#lastPage;
  }

  #enlarge(number: number, present: Uint32Array | undefined, words: number): Uint32Array {
    const wanted = Math.max(words, LEAST_WORDS, 2 * (present?.length ?? 0));
    const page = new Uint32Array(Math.min(PAGE_BITS / 32, wanted));
    if (present !== undefined) page.set(present);
    this.#pages.set(number, page);
    this.#lastNumber = number;
    this.#lastPage = page;
    return page;
  }
}
