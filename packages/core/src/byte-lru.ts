// A least-recently-used cache, bounded by the total weight of its entries.

type Entry<V> = { readonly value: V; weight: number };

/**
 * Evicts the least recently used entries when all together weigh more than `weightMax`; a weight is
 * in bytes unless the owner says otherwise. The entry just set stays, however heavy it is: its
 * caller is working with it.
 */
export class ByteLru<K, V> {
  readonly weightMax: number;
  readonly #onDrop: ((key: K, value: V) => void) | undefined;
  /** Least recently used first. */
  readonly #entries = new Map<K, Entry<V>>();
  #weight = 0;

  /** `onDrop` is called for each entry that leaves: evicted, deleted or replaced. */
  constructor(weightMax: number, onDrop?: (key: K, value: V) => void) {
    this.weightMax = weightMax;
    this.#onDrop = onDrop;
  }

  /** Total weight of all entries. */
  get weight(): number {
    return this.#weight;
  }

  get count(): number {
    return this.#entries.size;
  }

  /** The value of a key; counts as a use. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** The value of a key; does not count as a use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** All values, least recently used first. */
  *values(): Generator<V> {
    for (const { value } of this.#entries.values()) yield value;
  }

  set(key: K, value: V, weight: number): void {
    this.delete(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    this.#makeRoom(key);
  }

  /** Sets the weight of an entry that has become lighter or heavier. */
  reweigh(key: K, weight: number): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.weight === weight) return;
    this.#weight += weight - entry.weight;
    entry.weight = weight;
    this.#makeRoom(key);
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
    this.#onDrop?.(key, entry.value);
  }

  #makeRoom(present: K): void {
    for (const key of this.#entries.keys()) {
      if (this.#weight <= this.weightMax) return;
      if (key !== present) this.delete(key);
    }
  }
}
