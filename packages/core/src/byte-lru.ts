// What was used least makes room: a cache that is bounded by what its entries weigh.

type Entry<V> = { readonly value: V; weight: number };

/**
 * Keeps entries up to a weight of all of them, in bytes where nothing else is said. The newest one
 * stays however heavy it is: whoever has just brought it is at work on it.
 */
export class ByteLru<K, V> {
  readonly weightMax: number;
  readonly #onDrop: ((key: K, value: V) => void) | undefined;
  /** Least recently used first. */
  readonly #entries = new Map<K, Entry<V>>();
  #weight = 0;

  /** `onDrop` is told of each entry that goes, whatever the reason. */
  constructor(weightMax: number, onDrop?: (key: K, value: V) => void) {
    this.weightMax = weightMax;
    this.#onDrop = onDrop;
  }

  /** Of all entries. */
  get weight(): number {
    return this.#weight;
  }

  get count(): number {
    return this.#entries.size;
  }

  /** The value of a key, which is used by that. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** The value of a key; what is used least stays what it is. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Values, those used least first. */
  *values(): Generator<V> {
    for (const { value } of this.#entries.values()) yield value;
  }

  set(key: K, value: V, weight: number): void {
    this.delete(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    this.#makeRoom(key);
  }

  /** An entry has become lighter or heavier. */
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
