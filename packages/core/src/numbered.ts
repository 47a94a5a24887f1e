// What waits under a number that was counted up: requests until they are answered. A hash table
// with linear probing that frees a slot at once and only moves when it grows (`arrivals.ts` says
// why it is no `Map`).
import { assert } from './assert.ts';

const FIRST_SLOTS = 64;
const FREE = -1;

export class Numbered<T> {
  /** The number of each slot, or `FREE`. */
  #numbers = freeSlots(FIRST_SLOTS);
  #values: (T | undefined)[] = Array.from({ length: FIRST_SLOTS });
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Adds a value under a number of 0 or more that has none. */
  add(number: number, value: T): void {
    if (2 * this.#count >= this.#numbers.length) this.#grow();
    const slot = this.#slotOf(number);
    assert(this.#numbers[slot] === FREE, 'a number is used once');
    this.#numbers[slot] = number;
    this.#values[slot] = value;
    this.#count++;
  }

  get(number: number): T | undefined {
    return this.#values[this.#slotOf(number)];
  }

  /** The value of a number, which has none from now on. */
  take(number: number): T | undefined {
    let hole = this.#slotOf(number);
    if (this.#numbers[hole] === FREE) return undefined;
    const value = this.#values[hole];
    const mask = this.#numbers.length - 1;
    // Those behind it move up, unless that would be before the slot that they are looked for from.
    for (let at = (hole + 1) & mask; this.#numbers[at] !== FREE; at = (at + 1) & mask) {
      const wanted = this.#numbers[at]! % (mask + 1);
      if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
      this.#numbers[hole] = this.#numbers[at]!;
      this.#values[hole] = this.#values[at];
      hole = at;
    }
    this.#numbers[hole] = FREE;
    this.#values[hole] = undefined;
    this.#count--;
    return value;
  }

  /** All values, in no order. */
  values(): readonly T[] {
    return this.#values.filter((value): value is T => value !== undefined);
  }

  /** The slot of a number, or the free one where it belongs. */
  #slotOf(number: number): number {
    const mask = this.#numbers.length - 1;
    let slot = number % (mask + 1);
    while (this.#numbers[slot] !== FREE && this.#numbers[slot] !== number) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const numbers = this.#numbers;
    const values = this.#values;
    this.#numbers = freeSlots(2 * numbers.length);
    this.#values = Array.from({ length: 2 * numbers.length });
    for (const [i, number] of numbers.entries()) {
      if (number === FREE) continue;
      const slot = this.#slotOf(number);
      this.#numbers[slot] = number;
      this.#values[slot] = values[i];
    }
  }
}

function freeSlots(count: number): number[] {
  return Array.from({ length: count }, () => FREE);
}
