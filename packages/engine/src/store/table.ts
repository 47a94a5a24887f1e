// Reads the tables of the metadata. `Metadata.commit` changes them.
import { ByteLru } from '@tidemark/core';
import type { Database } from 'lmdb';
import type { CommitOptions } from './metadata.ts';
import type { StoreCipher } from './store-cipher.ts';
import { declarationOf } from './tables.ts';
import type { StoreChange, StoreKey } from './tables.ts';

export type EntryRange<K extends StoreKey> = {
  readonly start?: K;
  /** The first key after the range. */
  readonly end?: K;
  readonly reverse?: boolean;
  readonly limit?: number;
};

/** The entry that a value is bound to. */
export function entryOf(table: string, key: StoreKey): string {
  return JSON.stringify([table, key]);
}

/** Entries of one table as bytes, in order of their keys. Values are never sealed here. */
export class Entries<K extends StoreKey = StoreKey> {
  readonly name: string;
  readonly #database: Database<Buffer, StoreKey>;
  readonly #cipher: StoreCipher;
  readonly #isSealed: boolean;

  constructor(name: string, database: Database<Buffer, StoreKey>, cipher: StoreCipher) {
    this.name = name;
    this.#database = database;
    this.#cipher = cipher;
    this.#isSealed = declarationOf(name)?.isSealed === true;
  }

  get(key: K): Buffer | undefined {
    const value = this.stored(key);
    return value === undefined ? undefined : this.open(key, value);
  }

  /** A value as it is on disk; the same bytes are the same value. */
  stored(key: K): Buffer | undefined {
    return this.#database.get(key);
  }

  has(key: K): boolean {
    return this.#database.doesExist(key);
  }

  keys(range: EntryRange<K> = {}): Iterable<K> {
    return this.#database.getKeys(range) as Iterable<K>;
  }

  *range(range: EntryRange<K> = {}): Iterable<{ readonly key: K; readonly value: Buffer }> {
    for (const { key, value } of this.#database.getRange(range))
      yield { key: key as K, value: this.open(key, value) };
  }

  count(range: EntryRange<K> = {}): number {
    return this.#database.getKeysCount(range);
  }

  /** What a stored value says. */
  open(key: StoreKey, value: Buffer): Buffer {
    if (!this.#isSealed) return value;
    return Buffer.from(this.#cipher.open(entryOf(this.name, key), value.toString('latin1')));
  }
}

/** The change of one id; `undefined` removes it. */
export type TableChange<V> = { readonly id: string; readonly value: V | undefined };

type Commit = (changes: readonly StoreChange[], options?: CommitOptions) => Promise<void>;

/**
 * Stored bytes of the values that a table remembers: those of some hundred tasks. To open and parse
 * one takes 50 to 100 µs, and clients that watch a task ask for it again and again.
 */
const PARSED_BYTES = 1 << 20;

/** JSON values by id, which nobody changes. */
export class Table<V> {
  readonly #entries: Entries<string>;
  /** Values that were read last, with the stored bytes of each. */
  readonly #parsed = new ByteLru<string, { readonly stored: Buffer; readonly value: V }>(
    PARSED_BYTES,
  );
  readonly #commit: Commit;

  constructor(entries: Entries<string>, commit: Commit) {
    this.#entries = entries;
    this.#commit = commit;
  }

  get(id: string): V | undefined {
    const stored = this.#entries.stored(id);
    if (stored === undefined) return undefined;
    const known = this.#parsed.get(id);
    if (known?.stored.equals(stored) === true) return known.value;
    const value = parse<V>(this.#entries.open(id, stored));
    this.#parsed.set(id, { stored, value }, stored.length);
    return value;
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** All values in order of their ids. */
  *values(): Iterable<V> {
    for (const [, value] of this.entries()) yield value;
  }

  /** All values with their ids, in order of these. */
  *entries(): Iterable<readonly [id: string, value: V]> {
    for (const { key, value } of this.#entries.range()) yield [key, parse<V>(value)];
  }

  count(): number {
    return this.#entries.count();
  }

  /** Changes for `Metadata.commit`. */
  changes(...changes: readonly TableChange<V>[]): readonly StoreChange[] {
    return changes.map(({ id, value }) => ({
      table: this.#entries.name,
      key: id,
      value: value === undefined ? undefined : Buffer.from(JSON.stringify(value)),
    }));
  }

  /** Commits one value. */
  put(id: string, value: V, options?: CommitOptions): Promise<void> {
    return this.#commit(this.changes({ id, value }), options);
  }

  remove(id: string): Promise<void> {
    return this.#commit(this.changes({ id, value: undefined }));
  }

  /** Commits several changes, all or none. */
  change(changes: readonly TableChange<V>[]): Promise<void> {
    return this.#commit(this.changes(...changes));
  }
}

function parse<V>(value: Buffer): V {
  return JSON.parse(value.toString('utf8')) as V;
}
