// Answers that are kept while what they stand on stays as it is; those used least make room.
import { ByteLru } from '@tidemark/core';

import type { SchemaStamp } from './protocol.ts';

type Entry<T> = { readonly value: T; readonly stamp: SchemaStamp };

export class VersionedCache<T> {
  readonly #entries: ByteLru<string, Entry<T>>;

  constructor(maxBytes: number) {
    this.#entries = new ByteLru(maxBytes);
  }

  /** The value of a key, when what it stands on has the version that it had. */
  get(key: string, versionOf: (scope: SchemaStamp['scope']) => number): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (versionOf(entry.stamp.scope) === entry.stamp.version) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Keeps a value; large ones are not kept. */
  set(
    key: string,
    value: T,
    { sizeBytes, stamp }: { readonly sizeBytes: number; readonly stamp: SchemaStamp },
  ): void {
    if (sizeBytes > this.#entries.weightMax / 4) return;
    this.#entries.set(key, { value, stamp }, sizeBytes);
  }
}
