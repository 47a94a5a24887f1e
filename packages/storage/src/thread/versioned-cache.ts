// Answers that are kept while what they stand on stays as it is; those used least make room.
import type { SchemaStamp } from './protocol.ts';

type Entry<T> = { readonly value: T; readonly sizeBytes: number; readonly stamp: SchemaStamp };

export class VersionedCache<T> {
  readonly #maxBytes: number;
  /** Oldest use first. */
  readonly #entries = new Map<string, Entry<T>>();
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The value of a key, when what it stands on has the version that it had. */
  get(key: string, versionOf: (scope: SchemaStamp['scope']) => number): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (versionOf(entry.stamp.scope) !== entry.stamp.version) {
      this.#sizeBytes -= entry.sizeBytes;
      return undefined;
    }
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value; large ones are not kept. */
  set(key: string, value: T, { sizeBytes, stamp }: Omit<Entry<T>, 'value'>): void {
    if (sizeBytes > this.#maxBytes / 4) return;
    this.#sizeBytes += sizeBytes - (this.#entries.get(key)?.sizeBytes ?? 0);
    this.#entries.delete(key);
    this.#entries.set(key, { value, sizeBytes, stamp });
    for (const [oldest, entry] of this.#entries) {
      if (this.#sizeBytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.#sizeBytes -= entry.sizeBytes;
    }
  }
}
