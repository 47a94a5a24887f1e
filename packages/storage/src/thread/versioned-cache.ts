// A cache of answers, each valid for one version of a schema. Bounded in bytes; the least recently
// used answers are evicted.
import { ByteLru } from '@tidemark/core';

import type { SchemaStamp } from './protocol.ts';

type Entry<T> = { readonly value: T; readonly stamp: SchemaStamp };

export class VersionedCache<T> {
  readonly #entries: ByteLru<string, Entry<T>>;

  constructor(maxBytes: number) {
    this.#entries = new ByteLru(maxBytes);
  }

  /** The value of a key if its version is still the present one. */
  get(key: string, versionOf: (scope: SchemaStamp['scope']) => number): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (versionOf(entry.stamp.scope) === entry.stamp.version) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Caches a value, unless it takes more than a quarter of the cache. */
  set(
    key: string,
    value: T,
    { sizeBytes, stamp }: { readonly sizeBytes: number; readonly stamp: SchemaStamp },
  ): void {
    if (sizeBytes > this.#entries.weightMax / 4) return;
    this.#entries.set(key, { value, stamp }, sizeBytes);
  }
}
