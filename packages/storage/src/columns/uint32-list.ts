// A growing list of row numbers or ids that is cleared and filled again. An array of numbers takes
// twice the memory, and is copied as a whole whenever it grows.

/** V8 keeps an array of 64 bytes in its own heap: larger ones take ten times as long to make. */
const FIRST_LENGTH = 16;

export class Uint32List {
  #numbers = new Uint32Array(FIRST_LENGTH);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** `undefined` while it is empty. */
  get last(): number | undefined {
    return this.#length === 0 ? undefined : this.#numbers[this.#length - 1];
  }

  clear(): void {
    this.#length = 0;
  }

  push(number: number): void {
    this.#reserve(this.#length + 1);
    this.#numbers[this.#length++] = number;
  }

  /**
   * Makes the list longer by `count` unspecified numbers, which the caller fills in from the end
   * with `fillBefore`. Returns the new length.
   */
  extend(count: number): number {
    this.#reserve(this.#length + count);
    this.#length += count;
    return this.#length;
  }

  /** Writes the numbers [first, end) directly before index `at`; returns the index of the first. */
  fillBefore(at: number, first: number, end: number): number {
    const start = at - (end - first);
    const numbers = this.#numbers;
    for (let number = first, i = start; number < end; number++, i++) numbers[i] = number;
    return start;
  }

  /** A copy of the numbers. */
  toArray(): Uint32Array {
    return this.#numbers.slice(0, this.#length);
  }

  /** The numbers where they lie: valid until the list changes. */
  view(): Uint32Array {
    return this.#numbers.subarray(0, this.#length);
  }

  #reserve(length: number): void {
    if (length <= this.#numbers.length) return;
    const grown = new Uint32Array(Math.max(length, this.#numbers.length * 2));
    grown.set(this.view());
    this.#numbers = grown;
  }
}
