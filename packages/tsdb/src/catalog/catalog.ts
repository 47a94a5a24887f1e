// The catalog on disk: LMDB, one record per database, user and token. A change is answered after it is synced; what it
// changes becomes visible at the same moment.
import { assert, Corruption, Unavailable } from '@tidemark/core';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';

import { EMPTY_CATALOG } from './model.ts';
import type { ApiToken, CatalogState, Database, User } from './model.ts';

const FORMAT_VERSION = 1;

type MetaRecord = { readonly formatVersion: number; readonly nextId: number };

export class Catalog {
  readonly #store: RootDatabase;
  #state: CatalogState;
  // Changes run one after the other, each on the state that the one before has left.
  #tail: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #listeners = new Set<(state: CatalogState, before: CatalogState) => void>();

  private constructor(store: RootDatabase, state: CatalogState) {
    this.#store = store;
    this.#state = state;
  }

  /** Opens or creates the catalog in a folder. */
  static open(path: string): Catalog {
    // Without overlapping syncs a commit has reached the disk when its promise resolves.
    const store = open({ path, overlappingSync: false, maxReaders: 16 });
    return new Catalog(store, readState(store, path));
  }

  /** What is true now. Keep it for as long as one answer needs a consistent view. */
  get state(): CatalogState {
    return this.#state;
  }

  /** Is told about every change after it is durable, before its promise resolves. */
  onChange(listener: (state: CatalogState, before: CatalogState) => void): void {
    this.#listeners.add(listener);
  }

  /** Applies a change; what it throws leaves everything as it was. Resolves with the state that it made. */
  change(make: (state: CatalogState) => CatalogState): Promise<CatalogState> {
    const result = this.#tail.then(async () => {
      if (this.#isClosed) throw new Unavailable('the catalog is closed');
      const before = this.#state;
      const after = make(before);
      if (after === before) return before;
      assert(after.nextId >= before.nextId, 'ids are never given twice');
      await this.#persist(before, after);
      this.#state = after;
      for (const listener of this.#listeners) listener(after, before);
      return after;
    });
    this.#tail = result.catch(() => undefined); // The caller gets the error; the next change must still run.
    return result;
  }

  async #persist(before: CatalogState, after: CatalogState): Promise<void> {
    const store = this.#store;
    await store.transaction(() => {
      writeChanges(store, 'database', { before: before.databases, after: after.databases });
      writeChanges(store, 'user', { before: before.users, after: after.users });
      writeChanges(store, 'token', { before: before.tokens, after: after.tokens });
      const meta: MetaRecord = { formatVersion: FORMAT_VERSION, nextId: after.nextId };
      store.putSync('meta', meta);
    });
    await store.flushed;
  }

  async close(): Promise<void> {
    await this.#tail;
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#store.close();
  }
}

// Records are keyed by id: a name may be longer than a key of LMDB can be.
function writeChanges<T extends { readonly id: number }>(
  store: RootDatabase,
  kind: string,
  change: { readonly before: ReadonlyMap<string, T>; readonly after: ReadonlyMap<string, T> },
): void {
  const kept = new Set<number>();
  for (const [name, record] of change.after) {
    kept.add(record.id);
    if (change.before.get(name) !== record) store.putSync([kind, record.id], record);
  }
  for (const { id } of change.before.values()) if (!kept.has(id)) store.removeSync([kind, id]);
}

function readState(store: RootDatabase, path: string): CatalogState {
  const meta: MetaRecord | undefined = store.get('meta');
  if (meta === undefined) return EMPTY_CATALOG;
  if (meta.formatVersion !== FORMAT_VERSION) {
    throw new Corruption(
      `the catalog has format version ${meta.formatVersion}, this program reads ${FORMAT_VERSION}`,
      { file: path, offset: 0 },
    );
  }
  return {
    databases: readRecords<Database>(store, 'database'),
    users: readRecords<User>(store, 'user'),
    tokens: readRecords<ApiToken>(store, 'token'),
    nextId: meta.nextId,
  };
}

function readRecords<T extends { readonly id: number; readonly name: string }>(
  store: RootDatabase,
  kind: string,
): ReadonlyMap<string, T> {
  const records: T[] = [];
  for (const { value } of store.getRange({ start: [kind, 0], end: [kind, Infinity] })) {
    records.push(value as T);
  }
  records.sort((a, b) => a.id - b.id);
  return new Map(records.map((record) => [record.name, record]));
}
