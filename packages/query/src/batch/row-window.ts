// OFFSET and LIMIT over rows that come in pieces.

/** One series of rows. */
export class RowWindow {
  readonly #offset: number;
  readonly #end: number;
  #seen = 0;

  /** A limit of 0 means no limit. */
  constructor({ limit, offset }: { readonly limit: number; readonly offset: number }) {
    this.#offset = offset;
    this.#end = limit === 0 ? Infinity : offset + limit;
  }

  /** Whether no further rows are shown. */
  get isOver(): boolean {
    return this.#seen >= this.#end;
  }

  /** Which of the next `count` rows are shown, [from, to). */
  take(count: number): readonly [from: number, to: number] {
    const from = Math.min(Math.max(this.#offset - this.#seen, 0), count);
    const to = Math.min(Math.max(this.#end - this.#seen, from), count);
    this.#seen += count;
    return [from, to];
  }
}
