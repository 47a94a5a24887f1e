// A least-recently-used cache, bounded by the total weight of its entries.

import { Arrivals } from './arrivals.ts';
import type { Arrival } from './arrivals.ts';

interface Entry<K, V> extends Arrival<Entry<K, V>> {
  readonly key: K;
  readonly value: V;
  weight: number;
}

/**
 * Evicts the least recently used entries when all together weigh more than `weightMax`; a weight is
 * in bytes unless the owner says otherwise. The entry just set stays, however heavy it is: its
 * caller is working with it.
 */
export class ByteLru<K, V> {
  readonly weightMax: number;
  readonly #onDrop: ((key: K, value: V) => void) | undefined;
  readonly #entries = new Map<K, Entry<K, V>>();
  /** The same, least recently used first. */
  readonly #uses = new Arrivals<Entry<K, V>>();
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
    this.#uses.remove(entry);
    this.#uses.add(entry);
    return entry.value;
  }

  /** The value of a key; does not count as a use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** All values, least recently used first. */
  *values(): Generator<V> {
    for (const { value } of this.#uses) yield value;
  }

  set(key: K, value: V, weight: number): void {
    this.delete(key);
    const entry: Entry<K, V> = { key, value, weight };
    this.#entries.set(key, entry);
    this.#uses.add(entry);
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
    this.#uses.remove(entry);
    this.#weight -= entry.weight;
    this.#onDrop?.(key, entry.value);
  }

  #makeRoom(present: K): void {
    while (this.#weight > this.weightMax) {
      const { oldest } = this.#uses;
      const entry = oldest?.key === present ? oldest?.behind : oldest;
      if (entry === undefined) return;
      this.delete(entry.key);
    }
  }
}
