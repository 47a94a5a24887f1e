// Which values are too bad for `top` and `bottom`, whatever comes later. Whoever reads rows leaves
// those out (`BestRows`).
import type { FieldValue } from '@tidemark/core';

/** A combination with its best value, a number. */
type Best = readonly [combination: string | number, value: FieldValue];

/**
 * The best values of so many combinations of tags: a worse value is none of the best, because each
 * of those combinations has a better one. Without tags, every row is a combination of its own.
 */
export class BestValues {
  readonly #isTop: boolean;
  readonly #count: number;
  #best = new Map<string | number, FieldValue>();
  #added = 0;
  #worst: FieldValue | undefined;

  constructor(order: 'top' | 'bottom', count: number) {
    this.#isTop = order === 'top';
    this.#count = count;
  }

  /** Whether a value is worse than those of enough combinations. */
  isHopeless(value: FieldValue): boolean {
    return this.#worst !== undefined && this.#isBetter(this.#worst, value);
  }

  /** Adds a value. Returns whether it may be among the best. */
  add(combination: string | number, value: FieldValue): boolean {
    if (this.isHopeless(value)) return false;
    const known = this.#best.get(combination);
    if (known !== undefined && !this.#isBetter(value, known)) return value === known;
    this.#best.set(combination, value);
    if (++this.#added >= this.#count) this.settle();
    return true;
  }

  /** Takes into account all values that were added; `add` does so now and then. */
  settle(): void {
    this.#added = 0;
    if (this.#best.size < this.#count) return;
    const best = [...this.#best].sort((a, b) => this.#order(a, b)).slice(0, this.#count);
    this.#best = new Map(best);
    this.#worst = best.at(-1)?.[1];
  }

  #order([, a]: Best, [, b]: Best): number {
    if (a === b) return 0;
    return this.#isBetter(a, b) ? -1 : 1;
  }

  #isBetter(a: FieldValue, b: FieldValue): boolean {
    return this.#isTop ? a > b : a < b;
  }
}
