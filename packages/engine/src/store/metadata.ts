// The engine's metadata: one LMDB file with tasks, templates, recordings, replays, overrides,
// handlers and topics (`tables.ts`). A copy of it is the backup. Only `commit` changes it, and
// resolves when the changes are on disk; in a cluster they are appended to the shared log first.
import { makeDirectory, PRIVATE_DIRECTORY } from '@tidemark/process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, InvalidRequest, messageOf, Unavailable } from '@tidemark/core';
import type { Database, RootDatabase } from 'lmdb';
import {
  checkUnused,
  FORMAT_VERSION,
  forgetOldPages,
  METADATA_FILE,
  openFile,
} from './metadata-file.ts';
import type { Identity, StoreFile } from './metadata-file.ts';
import { isSealed, readKey } from './store-cipher.ts';
import type { KeyLocation, StoreCipher } from './store-cipher.ts';
import { Entries, entryOf, Table } from './table.ts';
import { declarationOf, TABLES } from './tables.ts';
import type { KeyOf, StoreChange, StoreKey, TableName } from './tables.ts';

// Space for some tables with a page each.
const FIRST_ENTRIES = 32;

export type KeyOptions = Omit<KeyLocation, 'directory'> & {
  /** Opens the file; default: on a disk, with syncs. */
  readonly openFile?: typeof openFile | undefined;
};

const NO_KEY_OPTIONS: KeyOptions = { setting: '', environment: {} };

export type CommitOptions = {
  /**
   * The changes end something: they may use the space that is reserved for that on a full disk.
   * Default: if they only remove.
   */
  readonly isEnd?: boolean | undefined;
};

/** Appends changes to a log that other instances follow. */
export type CommitLog = {
  /** Throws `Unavailable` when nothing can be committed at present; nothing has happened then. */
  check(): void;
  /**
   * Resolves when the log has the changes and `write` has made them. `write` makes changes in one
   * transaction.
   */
  commit(
    changes: readonly StoreChange[],
    write: (changes: readonly StoreChange[]) => Promise<void>,
  ): Promise<void>;
};

/** The open file, which all that share it close together. */
type Opened = {
  readonly identity: Identity;
  readonly cipher: StoreCipher;
  readonly root: RootDatabase;
  /** The space for all writes. */
  readonly room: StoreFile['room'];
  readonly backup: StoreFile['backup'];
  readonly databases: Map<string, Database<Buffer, StoreKey>>;
  isClosed: boolean;
};

export class Metadata {
  readonly #opened: Opened;
  readonly #log: CommitLog | undefined;

  private constructor(opened: Opened, log?: CommitLog) {
    this.#opened = opened;
    this.#log = log;
  }

  get clusterId(): string {
    return this.#opened.identity.clusterId;
  }

  get serverId(): string {
    return this.#opened.identity.serverId;
  }

  get cipher(): StoreCipher {
    return this.#opened.cipher;
  }

  /**
   * Opens the file in a directory, which is created if absent. Throws when it was written by a
   * newer version or with another key, and when it is gone from a directory that had one, unless
   * `startsEmpty`.
   */
  static async open(
    directory: string,
    key: KeyOptions = NO_KEY_OPTIONS,
    { startsEmpty = false }: { readonly startsEmpty?: boolean } = {},
  ): Promise<Metadata> {
    makeDirectory(directory, { mode: PRIVATE_DIRECTORY });
    const isNew = !existsSync(join(directory, METADATA_FILE));
    if (isNew && !startsEmpty) checkUnused(directory);
    return Metadata.#open(directory, { key, isClean: isNew });
  }

  /** `isClean`: no page of the file has contents from before values were sealed. */
  static async #open(
    directory: string,
    { key, isClean }: { readonly key: KeyOptions; readonly isClean: boolean },
  ): Promise<Metadata> {
    const file = join(directory, METADATA_FILE);
    const isNew = !existsSync(file);
    const stored = (key.openFile ?? openFile)(file);
    const { root, room } = stored;
    // The first tables are created with this reservation. Existing ones can be read on a full disk,
    // too.
    const release = isNew ? room.take({ entries: FIRST_ENTRIES, bytes: 0 }) : undefined;
    const identities = root.openDB<Identity, string>({ name: 'identity', encoding: 'json' });
    let identity = identities.get('engine');
    if (identity === undefined) {
      const first = {
        formatVersion: FORMAT_VERSION,
        clusterId: randomUUID(),
        serverId: randomUUID(),
      };
      identity = first;
      await root.batch(() => void identities.put('engine', first));
    }
    release?.();
    try {
      if (identity.formatVersion > FORMAT_VERSION) {
        throw new Error(
          `metadata was written by a newer version. file=\`${file}\` version=${identity.formatVersion}`,
        );
      }
      const isNeeded = identity.keyCheck !== undefined;
      const cipher = readKey({ directory, ...key, isNeeded });
      const keyCheck = cipher.check(identity.clusterId);
      if (isNeeded && identity.keyCheck !== keyCheck) {
        throw new InvalidRequest(
          `${file} was written with another key than this one: replace it with that key, or name that with secrets-key`,
        );
      }
      const metadata = new Metadata({
        identity,
        cipher,
        root,
        room,
        backup: stored.backup,
        databases: new Map(),
        isClosed: false,
      });
      if (isNeeded) return metadata;
      if (isClean) {
        const sealed = { ...identity, formatVersion: FORMAT_VERSION, keyCheck };
        await metadata.write([identityChange(sealed)]);
        return metadata;
      }
      // Written by a version that did not seal values.
      await metadata.#sealAll();
      await forgetOldPages(root, file);
      await metadata.close();
    } catch (error) {
      room.close();
      await root.close();
      throw error;
    }
    return Metadata.#open(directory, { key, isClean: true });
  }

  /** Seals values that are stored as plain text. */
  async #sealAll(): Promise<void> {
    const changes: StoreChange[] = [];
    for (const { name: table } of TABLES.filter((declared) => declared.isSealed))
      for (const { key, value } of this.#database(table).getRange())
        if (!isSealed(value.toString('utf8'))) changes.push({ table, key, value });
    await this.write(this.sealed(changes));
  }

  /** A table of JSON values by id. */
  table<V>(name: TableName): Table<V> {
    const entries = new Entries<string>(name, this.#database(name), this.cipher);
    return new Table(entries, (changes, options) => this.commit(changes, options));
  }

  /** Entries of a table as bytes. */
  read<N extends TableName>(name: N): Entries<KeyOf<N>> {
    return new Entries(name, this.#database(name), this.cipher);
  }

  /**
   * All entries that are shared with other instances, as stored on disk, table by table. Throws
   * `Unavailable` when the file is closed meanwhile.
   */
  *shared(): Iterable<StoreChange> {
    for (const table of this.#sharedTables())
      for (const { key, value } of this.#database(table).getRange()) {
        yield { table, key, value };
        // LMDB reports MDB_BAD_TXN.
        if (this.#opened.isClosed) throw new Unavailable('the metadata is closed');
      }
  }

  /** Removals of all shared entries. */
  *removals(): Iterable<StoreChange> {
    for (const table of this.#sharedTables())
      for (const key of this.#database(table).getKeys()) yield { table, key, value: undefined };
  }

  /** Changes as stored on disk: values of tables with secrets are encrypted. */
  sealed(changes: readonly StoreChange[]): readonly StoreChange[] {
    return changes.map((change) => {
      const { table, key, value } = change;
      if (value === undefined || declarationOf(table)?.isSealed !== true) return change;
      const text = this.cipher.seal(entryOf(table, key), Buffer.from(value).toString('utf8'));
      return { table, key, value: Buffer.from(text) };
    });
  }

  /**
   * Commits changes, all or none of them; resolves when they are on disk, and in a cluster in the
   * shared log. Throws `Unavailable` with the reason on failure.
   */
  async commit(changes: readonly StoreChange[], options: CommitOptions = {}): Promise<void> {
    if (changes.length === 0) return;
    const log = this.#log;
    log?.check();
    const sealed = this.sealed(changes);
    if (log === undefined) return this.write(sealed, options);
    // Space first: changes in the log have to be applied here, too.
    const release = this.#opened.room.take(sizeOf(sealed, options));
    try {
      await log.commit(sealed, (made) => this.#transact(made));
    } finally {
      release();
    }
  }

  /**
   * The same file, for those who commit through this log: what outlives their term cannot commit
   * through the log of the next one.
   */
  through(log: CommitLog): Metadata {
    return new Metadata(this.#opened, log);
  }

  /**
   * Writes changes that already have their position, as stored on disk: records of the log, and
   * entries of this directory alone. Throws as `commit` does.
   */
  async write(changes: readonly StoreChange[], options: CommitOptions = {}): Promise<void> {
    const release = this.#opened.room.take(sizeOf(changes, options));
    try {
      await this.#transact(changes);
    } finally {
      release();
    }
  }

  async #transact(changes: readonly StoreChange[]): Promise<void> {
    // Opening one is a transaction of its own.
    const databases = changes.map(({ table }) => this.#database(table));
    try {
      // Not `transaction`, whose callback a thread of Node's pool waits for: if the process exits
      // meanwhile, Node waits for that thread forever.
      await this.#opened.root.batch(() => {
        for (const [i, { key, value }] of changes.entries()) {
          if (value === undefined) void databases[i]?.remove(key);
          else void databases[i]?.put(key, asBuffer(value));
        }
      });
      await this.#opened.root.flushed;
    } catch (error) {
      // LMDB reports the reason in a promise of its own, which rejects a moment later.
      const cause: unknown =
        error instanceof Error && 'commitError' in error
          ? await Promise.resolve(error.commitError).catch((reason: unknown) => reason)
          : error;
      if (cause instanceof AppError) throw cause;
      throw new Unavailable(`metadata cannot be written: ${messageOf(cause)}`, { cause });
    }
  }

  /**
   * Reads a whole store and compacts nothing: its index is the tree itself, which either can be
   * read or is damaged. Throws when it is damaged.
   */
  verify(name: TableName): void {
    for (const { value } of this.read(name).range())
      if (declarationOf(name)?.isBinary !== true) JSON.parse(value.toString('utf8'));
  }

  /** A consistent copy of the whole file. */
  backup(): Promise<Buffer> {
    return this.#opened.backup();
  }

  async close(): Promise<void> {
    this.#opened.isClosed = true;
    await this.#opened.root.flushed;
    this.#opened.room.close();
    await this.#opened.root.close();
  }

  #database(name: string): Database<Buffer, StoreKey> {
    let database = this.#opened.databases.get(name);
    if (database === undefined) {
      database = this.#opened.root.openDB<Buffer, StoreKey>({ name, encoding: 'binary' });
      this.#opened.databases.set(name, database);
    }
    return database;
  }

  /** Includes tables of newer versions, because the file itself lists all tables. */
  #sharedTables(): readonly string[] {
    return [...this.#opened.root.getKeys()]
      .map(String)
      .filter((name) => declarationOf(name)?.isLocal !== true);
  }
}

/** The entry that identifies the owner of the file. */
export function identityChange(identity: Identity): StoreChange {
  return { table: 'identity', key: 'engine', value: Buffer.from(JSON.stringify(identity)) };
}

/** The size of a transaction. */
function sizeOf(
  changes: readonly StoreChange[],
  { isEnd }: CommitOptions,
): CommitOptions & { readonly entries: number; readonly bytes: number } {
  const bytes = changes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
  // One more for the position of a copy.
  return { entries: changes.length + 1, bytes, isEnd };
}

function asBuffer(value: Uint8Array): Buffer {
  return Buffer.isBuffer(value)
    ? value
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
