// Changes of the metadata as they are made, for an engine that shares them: each put and removal of
// any table, in their order, as the bytes that lie on the disk. A transaction calls all of its puts
// in one turn, so what is sent together never holds a part of one.
import type { Database, RootDatabase } from 'lmdb';
import type { Metadata, StoreKey } from './metadata.ts';

/** What became of one entry; `undefined` removes it. */
export type StoreChange = {
  readonly table: string;
  readonly key: StoreKey;
  readonly value: Uint8Array | undefined;
};

/** Where changes go. */
export type ChangeSink = {
  /** Told once of the metadata whose changes it gets. */
  opened(metadata: Metadata): void;
  /** Refuses a change before it is made: throws `Unavailable`. */
  check(): void;
  /** Resolves when the changes can not be lost any more, all of them or none. */
  append(changes: readonly StoreChange[]): Promise<void>;
};

/** Tables that are of this directory alone. */
const LOCAL_TABLES: ReadonlySet<string> = new Set(['identity', 'replica']);

export class ChangeFeed {
  readonly #sink: ChangeSink;
  #pending: StoreChange[] = [];
  #sending: Promise<void> = Promise.resolve();

  /** Follows what is changed through tables that are opened from now on. */
  constructor(root: RootDatabase, sink: ChangeSink) {
    this.#sink = sink;
    const openDB = root.openDB.bind(root) as (options: TableOptions) => Database<unknown, StoreKey>;
    const opened = (options: TableOptions): Database<unknown, StoreKey> => {
      const table = openDB(options);
      if (!LOCAL_TABLES.has(options.name)) this.#follow(table, options);
      return table;
    };
    Object.defineProperty(root, 'openDB', { value: opened });
  }

  /** As `ChangeSink.check`. */
  check(): void {
    this.#sink.check();
  }

  /** Sends what was changed until now; changes that can not be sent go with the next ones. */
  flush(): Promise<void> {
    const sent = this.#sending.then(() => this.#send());
    this.#sending = sent.catch(() => undefined);
    return sent;
  }

  async #send(): Promise<void> {
    const changes = this.#pending;
    if (changes.length === 0) return;
    this.#pending = [];
    try {
      await this.#sink.append(changes);
    } catch (error) {
      this.#pending = [...changes, ...this.#pending];
      throw error;
    }
  }

  #follow(table: Database<unknown, StoreKey>, { name, encoding }: TableOptions): void {
    const put = table.put.bind(table) as (key: StoreKey, value: unknown) => Promise<boolean>;
    const remove = table.remove.bind(table) as (key: StoreKey) => Promise<boolean>;
    Object.defineProperty(table, 'put', {
      value: (key: StoreKey, value: unknown) => {
        this.#pending.push({ table: name, key, value: bytesOf(value, encoding) });
        return put(key, value);
      },
    });
    Object.defineProperty(table, 'remove', {
      value: (key: StoreKey) => {
        this.#pending.push({ table: name, key, value: undefined });
        return remove(key);
      },
    });
  }
}

type TableOptions = { readonly name: string; readonly encoding: 'json' | 'string' | 'binary' };

// As LMDB stores it. What is given as bytes may be a part of a buffer that is used again.
function bytesOf(value: unknown, encoding: TableOptions['encoding']): Uint8Array {
  if (encoding === 'binary') return Buffer.from(value as Uint8Array);
  return Buffer.from(encoding === 'json' ? JSON.stringify(value) : (value as string));
}
