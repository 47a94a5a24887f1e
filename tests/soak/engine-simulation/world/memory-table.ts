// A table of a store in memory, as LMDB keeps one: bytes by key, in the order of the keys.
import type { StoreKey } from '../../../../packages/engine/src/store/tables.ts';

type Entry = { readonly key: StoreKey; readonly value: Buffer };

/** As LMDB has it: in reverse it begins at `start`, too. */
type Range = {
  readonly start?: StoreKey;
  readonly end?: StoreKey;
  readonly reverse?: boolean;
  readonly limit?: number;
};

type JsonTable = {
  readonly get: (key: StoreKey) => unknown;
  readonly put: (key: StoreKey, value: unknown) => void;
};

export class MemoryTable {
  readonly #entries = new Map<string, Entry>();
  /** Sorted copy of all entries; created on demand. */
  #sorted: readonly Entry[] | undefined;

  get(key: StoreKey): Buffer | undefined {
    const value = this.#entries.get(nameOf(key))?.value;
    return value === undefined ? undefined : Buffer.from(value);
  }

  doesExist(key: StoreKey): boolean {
    return this.#entries.has(nameOf(key));
  }

  put(key: StoreKey, value: Uint8Array): void {
    this.#entries.set(nameOf(key), { key, value: Buffer.from(value) });
    this.#sorted = undefined;
  }

  remove(key: StoreKey): void {
    if (this.#entries.delete(nameOf(key))) this.#sorted = undefined;
  }

  /** Those of this moment, whatever is changed while they are read. */
  *getRange(range: Range = {}): Iterable<Entry> {
    for (const { key, value } of this.#range(range)) yield { key, value: Buffer.from(value) };
  }

  getKeys(range: Range = {}): Iterable<StoreKey> {
    return this.#range(range).map(({ key }) => key);
  }

  getKeysCount(range: Range = {}): number {
    return this.#range(range).length;
  }

  asJson(): JsonTable {
    return {
      get: (key) => {
        const value = this.get(key);
        return value === undefined ? undefined : JSON.parse(value.toString('utf8'));
      },
      put: (key, value) => this.put(key, Buffer.from(JSON.stringify(value))),
    };
  }

  #range({ start, end, reverse = false, limit }: Range): readonly Entry[] {
    this.#sorted ??= [...this.#entries.values()].sort((a, b) => compare(a.key, b.key));
    if (start === undefined && end === undefined && !reverse && limit === undefined)
      return this.#sorted;
    const sign = reverse ? -1 : 1;
    const ordered = reverse ? this.#sorted.toReversed() : this.#sorted;
    return ordered
      .filter(
        ({ key }) =>
          (start === undefined || sign * compare(key, start) >= 0) &&
          (end === undefined || sign * compare(key, end) < 0),
      )
      .slice(0, limit);
  }
}

function nameOf(key: StoreKey): string {
  return typeof key === 'string' ? key : JSON.stringify([key]);
}

/** Numbers before texts, pairs part by part. */
function compare(a: StoreKey, b: StoreKey): number {
  if (Array.isArray(a) && Array.isArray(b)) return compare(a[0], b[0]) || compare(a[1], b[1]);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === typeof b) return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
  return typeof a === 'number' ? -1 : 1;
}
