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
import type { KeyPlace, StoreCipher } from './store-cipher.ts';
import { Entries, placeOf, Table } from './table.ts';
import { declarationOf, TABLES } from './tables.ts';
import type { KeyOf, StoreChange, StoreKey, TableName } from './tables.ts';

// Some tables with a page each.
const FIRST_ENTRIES = 32;

export type KeyOptions = Omit<KeyPlace, 'directory'> & {
  /** Opens the file; default: as one on a disk, which is synced. */
  readonly openFile?: typeof openFile | undefined;
};

const NO_KEY_OPTIONS: KeyOptions = { setting: '', environment: {} };

export type CommitOptions = {
  /**
   * The changes end something: they may use the room that is kept for that on a full disk. Default:
   * they do when they only remove.
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

export class Metadata {
  readonly clusterId: string;
  readonly serverId: string;
  readonly cipher: StoreCipher;
  readonly #root: RootDatabase;
  /** Where all writes take their room from. */
  readonly #room: StoreFile['room'];
  readonly #backup: StoreFile['backup'];
  readonly #databases = new Map<string, Database<Buffer, StoreKey>>();
  #log: CommitLog | undefined;
  #isClosed = false;

  private constructor(parts: {
    readonly stored: StoreFile;
    readonly identity: Identity;
    readonly cipher: StoreCipher;
  }) {
    const { stored, identity, cipher } = parts;
    this.#root = stored.root;
    this.#room = stored.room;
    this.#backup = stored.backup;
    this.cipher = cipher;
    this.clusterId = identity.clusterId;
    this.serverId = identity.serverId;
  }

  /**
   * Opens the file in a directory, which is made when absent. Throws when it was written by a newer
   * version or with another key, and when it is gone from a directory where there was one, unless
   * it `startsEmpty` then.
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

  /** `isClean`: no page of the file holds what was there before values were sealed. */
  static async #open(
    directory: string,
    { key, isClean }: { readonly key: KeyOptions; readonly isClean: boolean },
  ): Promise<Metadata> {
    const file = join(directory, METADATA_FILE);
    const isNew = !existsSync(file);
    const stored = (key.openFile ?? openFile)(file);
    const { root, room } = stored;
    // The first tables are made behind this one. What is there already can be read on a full disk,
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
          `${file} was written with another key than this one: put that one in its place, or name it with secrets-key`,
        );
      }
      const metadata = new Metadata({ stored, identity, cipher });
      if (isNeeded) return metadata;
      if (isClean) {
        const sealed = { ...identity, formatVersion: FORMAT_VERSION, keyCheck };
        await metadata.write([identityChange(sealed)]);
        return metadata;
      }
      // Written by a version that stored values as they are.
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

  /** Seals values that are stored as they are. */
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
   * Everything that is shared with other instances, as it lies on the disk, table by table. Throws
   * `Unavailable` when the file is closed meanwhile.
   */
  *shared(): Iterable<StoreChange> {
    for (const table of this.#sharedTables())
      for (const { key, value } of this.#database(table).getRange()) {
        yield { table, key, value };
        // LMDB says MDB_BAD_TXN.
        if (this.#isClosed) throw new Unavailable('the metadata is closed');
      }
  }

  /** Removals of all of it. */
  *removals(): Iterable<StoreChange> {
    for (const table of this.#sharedTables())
      for (const key of this.#database(table).getKeys()) yield { table, key, value: undefined };
  }

  /** Changes as they lie on the disk: values of tables with secrets are encrypted. */
  sealed(changes: readonly StoreChange[]): readonly StoreChange[] {
    return changes.map((change) => {
      const { table, key, value } = change;
      if (value === undefined || declarationOf(table)?.isSealed !== true) return change;
      const text = this.cipher.seal(placeOf(table, key), Buffer.from(value).toString('utf8'));
      return { table, key, value: Buffer.from(text) };
    });
  }

  /**
   * Makes changes, all or none of them; resolves when they are on disk, and in a cluster in the
   * shared log. Throws `Unavailable` with the reason when they cannot be made.
   */
  async commit(changes: readonly StoreChange[], options: CommitOptions = {}): Promise<void> {
    if (changes.length === 0) return;
    const log = this.#log;
    log?.check();
    const sealed = this.sealed(changes);
    if (log === undefined) return this.write(sealed, options);
    // Room first: what is in the log has to be made here, too.
    const release = this.#room.take(sizeOf(sealed, options));
    try {
      await log.commit(sealed, (made) => this.#transact(made));
    } finally {
      release();
    }
  }

  /** From now on what is committed gets its place from this log. */
  commitThrough(log: CommitLog): void {
    this.#log = log;
  }

  /**
   * Makes changes that have their place already, as they lie on the disk: records of the log, and
   * entries of this directory alone. Throws as `commit` does.
   */
  async write(changes: readonly StoreChange[], options: CommitOptions = {}): Promise<void> {
    const release = this.#room.take(sizeOf(changes, options));
    try {
      await this.#transact(changes);
    } finally {
      release();
    }
  }

  async #transact(changes: readonly StoreChange[]): Promise<void> {
    // To open one is a transaction of its own.
    const databases = changes.map(({ table }) => this.#database(table));
    try {
      // Not `transaction`, whose callback a thread of Node's pool waits for: when the process exits
      // meanwhile, Node waits for that thread, and so forever.
      await this.#root.batch(() => {
        for (const [i, { key, value }] of changes.entries()) {
          if (value === undefined) void databases[i]?.remove(key);
          else void databases[i]?.put(key, asBuffer(value));
        }
      });
      await this.#root.flushed;
    } catch (error) {
      // LMDB tells the reason in a promise of its own, which rejects a moment later.
      const cause: unknown =
        error instanceof Error && 'commitError' in error
          ? await Promise.resolve(error.commitError).catch((reason: unknown) => reason)
          : error;
      if (cause instanceof AppError) throw cause;
      throw new Unavailable(`metadata can not be written: ${messageOf(cause)}`, { cause });
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
    return this.#backup();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#root.flushed;
    this.#room.close();
    await this.#root.close();
  }

  #database(name: string): Database<Buffer, StoreKey> {
    let database = this.#databases.get(name);
    if (database === undefined) {
      database = this.#root.openDB<Buffer, StoreKey>({ name, encoding: 'binary' });
      this.#databases.set(name, database);
    }
    return database;
  }

  /** Includes tables of newer versions, because the file itself lists all tables. */
  #sharedTables(): readonly string[] {
    return [...this.#root.getKeys()]
      .map(String)
      .filter((name) => declarationOf(name)?.isLocal !== true);
  }
}

/** The entry that says whose file it is. */
export function identityChange(identity: Identity): StoreChange {
  return { table: 'identity', key: 'engine', value: Buffer.from(JSON.stringify(identity)) };
}

/** What a transaction needs room for. */
function sizeOf(
  changes: readonly StoreChange[],
  { isEnd }: CommitOptions,
): CommitOptions & { readonly entries: number; readonly bytes: number } {
  const bytes = changes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
  // One more for how far a copy has come.
  return { entries: changes.length + 1, bytes, isEnd };
}

function asBuffer(value: Uint8Array): Buffer {
  return Buffer.isBuffer(value)
    ? value
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
