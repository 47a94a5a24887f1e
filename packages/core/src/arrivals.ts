// Values that come and go with every request, in the order in which they came: a list whose values
// carry its links. A `Map` or a `Set` must not hold them: V8 moves its table every few changes, and
// the table before leads to the next one. Once one of them is old, all values that are added later
// survive collections of young objects, until the whole heap is marked.

/** The links of a value, which its list sets. */
export type Arrival<T> = {
  before?: T | undefined;
  behind?: T | undefined;
  isPresent?: boolean | undefined;
};

export class Arrivals<T extends Arrival<T>> {
  #oldest: T | undefined;
  #newest: T | undefined;
  #count = 0;

  get oldest(): T | undefined {
    return this.#oldest;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a value, which is in no list, as the newest one. */
  add(value: T): void {
    const newest = this.#newest;
    value.isPresent = true;
    value.before = newest;
    value.behind = undefined;
    if (newest === undefined) this.#oldest = value;
    else newest.behind = value;
    this.#newest = value;
    this.#count++;
  }

  /** Removes a value of this list; `false` if it has been removed before. */
  remove(value: T): boolean {
    if (value.isPresent !== true) return false;
    const { before, behind } = value;
    if (before === undefined) this.#oldest = behind;
    else before.behind = behind;
    if (behind === undefined) this.#newest = before;
    else behind.before = before;
    // A link from an old value would keep the younger ones.
    value.before = undefined;
    value.behind = undefined;
    value.isPresent = false;
    this.#count--;
    return true;
  }

  /** Those that are present now, oldest first, without those that are removed meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    const all: T[] = [];
    for (let one = this.#oldest; one !== undefined; one = one.behind) all.push(one);
    for (const one of all) if (one.isPresent === true) yield one;
  }
}
