// A sparse array of unsigned 32-bit numbers. It consists of pages that are created when something
// is put there, so that growing copies nothing.

const PAGE_BITS = 12;
const PAGE_LENGTH = 1 << PAGE_BITS;
const PLACE_MASK = PAGE_LENGTH - 1;

export class PagedNumbers {
  readonly #pages: (Uint32Array | undefined)[] = [];
  #memoryBytes = 0;

  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  /** 0 where nothing was put. */
  get(index: number): number {
    return this.#pages[index >>> PAGE_BITS]?.[index & PLACE_MASK] ?? 0;
  }

  set(index: number, value: number): void {
    const page = this.#pages[index >>> PAGE_BITS] ?? this.#addPage(index >>> PAGE_BITS);
    page[index & PLACE_MASK] = value;
  }

  /**
   * The first index from `from` on, below `end`, where something other than 0 was put; `end` when
   * there is none.
   */
  nextSet(from: number, end: number): number {
    let index = from;
    while (index < end) {
      const page = this.#pages[index >>> PAGE_BITS];
      const pageEnd = Math.min(end, (index | PLACE_MASK) + 1);
      if (page === undefined) index = pageEnd;
      else {
        while (index < pageEnd && page[index & PLACE_MASK] === 0) index++;
        if (index < pageEnd) return index;
      }
    }
    return end;
  }

  #addPage(number: number): Uint32Array {
    while (this.#pages.length < number) this.#pages.push(undefined);
    const page = new Uint32Array(PAGE_LENGTH);
    this.#pages[number] = page;
    this.#memoryBytes += page.byteLength;
    return page;
  }
}
