// The parts of its service's store that alerting needs: tables of bytes ordered by key, and one way
// to change them.

/** Keys of the tables: topic and id, handler and sequence, a sequence alone, a unit or a topic. */
export type EntryKey = [string, string | number] | number | string;

type Range<K extends EntryKey> = {
  readonly start?: K;
  /** The first key after the range. */
  readonly end?: K;
  readonly reverse?: boolean;
  readonly limit?: number;
};

/** One table. Only stored entries are visible. */
export type EntryTable<K extends EntryKey = EntryKey> = {
  readonly name: string;
  get(key: K): Buffer | undefined;
  has(key: K): boolean;
  keys(range?: Range<K>): Iterable<K>;
  range(range?: Range<K>): Iterable<{ readonly key: K; readonly value: Buffer }>;
  count(range?: Range<K>): number;
};

/** One entry that is put, or removed when it has no value. */
export type TableEntry = {
  readonly table: string;
  readonly key: EntryKey;
  readonly value: Uint8Array | undefined;
};

export type AlertEntries = {
  readonly states: EntryTable<[string, string | number]>;
  readonly specs: EntryTable<[string, string | number]>;
  readonly outbox: EntryTable<[string, string | number]>;
  readonly letters: EntryTable<number>;
  readonly causes: EntryTable<string>;
  readonly origins: EntryTable<string>;
  /**
   * Commits changes, all or none; resolves when they are on disk. Throws `Unavailable` with the
   * reason on failure.
   */
  readonly commit: (changes: readonly TableEntry[]) => Promise<void>;
};
