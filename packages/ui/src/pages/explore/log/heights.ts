// Heights of the rows of a long list, some of them measured: where each row is, and which row is at
// a height. A Fenwick tree, so that each question and each change takes logarithmic time.

export class Heights {
  readonly #usual: number;
  #count = 0;
  /** Differences of rows from the usual height, as sums of ranges; from 1 on. */
  #sums = new Float64Array(1);
  #own = new Float64Array(0);

  /** `usual` is the height of rows that were not measured, in pixels. */
  constructor(usual: number) {
    this.#usual = usual;
  }

  get total(): number {
    return this.topOf(this.#count);
  }

  /** Rows were added at the end, or are gone from there. The rest keep their heights. */
  resize(count: number): void {
    const own = new Float64Array(count);
    own.set(this.#own.subarray(0, Math.min(count, this.#count)));
    this.#own = own;
    this.#count = count;
    this.#sums = new Float64Array(count + 1);
    for (let i = 1; i <= count; i++) {
      this.#sums[i] = (this.#sums[i] ?? 0) + (own[i - 1] ?? 0);
      const parent = i + (i & -i);
      if (parent <= count) this.#sums[parent] = (this.#sums[parent] ?? 0) + (this.#sums[i] ?? 0);
    }
  }

  /** Stores a measured height; returns by how much it differs from before. */
  set(index: number, height: number): number {
    const before = this.#own[index];
    if (before === undefined) return 0;
    const change = height - this.#usual - before;
    if (change === 0) return 0;
    this.#own[index] = height - this.#usual;
    for (let i = index + 1; i <= this.#count; i += i & -i) {
      this.#sums[i] = (this.#sums[i] ?? 0) + change;
    }
    return change;
  }

  /** Where a row begins, in pixels. */
  topOf(index: number): number {
    let sum = 0;
    for (let i = index; i > 0; i -= i & -i) sum += this.#sums[i] ?? 0;
    return index * this.#usual + sum;
  }

  /** The row at a height; the first or the last one beyond the ends. */
  indexAt(top: number): number {
    let at = 0;
    let rest = top;
    let step = 1;
    while (step * 2 <= this.#count) step *= 2;
    for (; step > 0; step = step >> 1) {
      const next = at + step;
      const height = step * this.#usual + (this.#sums[next] ?? 0);
      if (next <= this.#count && height <= rest) {
        at = next;
        rest -= height;
      }
    }
    return Math.max(0, Math.min(at, this.#count - 1));
  }
}
