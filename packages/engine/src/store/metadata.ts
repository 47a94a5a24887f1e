// The engine's metadata: one LMDB file that holds tasks, templates, recordings, replays, overrides,
// handlers and topics. It is also the backup. A write is answered only after it is on disk.
import { makeDirectory, PRIVATE_DIRECTORY, PRIVATE_FILE } from '@tidemark/process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync } from 'node:fs';
import { chmod, copyFile, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidRequest, messageOf, Unavailable } from '@tidemark/core';
import { open } from 'lmdb';
import type { Database, RootDatabase } from 'lmdb';
import { ChangeFeed } from './change-feed.ts';
import type { ChangeSink } from './change-feed.ts';
import { MetadataRoom } from './metadata-room.ts';
import type { WriteSize } from './metadata-room.ts';
import { isSealed, KEY_FILE, readKey } from './store-cipher.ts';
import type { KeyPlace, StoreCipher } from './store-cipher.ts';

/** Name of the file inside the data directory, and of the backup that clients download. */
export const METADATA_FILE = 'engine.mdb';

// Rises with every change of the tables that an older engine would misread.
const FORMAT_VERSION = 2;

// Some tables with a page each.
const FIRST_ENTRIES = 32;

/** The one entry of the table `identity`. */
export type Identity = {
  readonly formatVersion: number;
  readonly clusterId: string;
  readonly serverId: string;
  /** Tells the key of the values from others; absent in files of before there was one. */
  readonly keyCheck?: string | undefined;
};

export type KeyOptions = Omit<KeyPlace, 'directory'>;

/** How the metadata of an engine is opened that shares it with others. */
type OpenOptions = KeyOptions & {
  /** Where all changes go. */
  readonly sink?: ChangeSink | undefined;
  /** Names the engine to databases, in place of what the file says. */
  readonly clusterId?: string | undefined;
};

const NO_KEY_OPTIONS: KeyOptions = { setting: '', environment: {} };

/** Tables whose values may hold secrets. */
export const SEALED_TABLES: readonly string[] = [
  'tasks',
  'task-versions',
  'templates',
  'overrides',
  'subscriber-token',
  'handler-specs',
];

export type StoreKey = string | number | [string, string | number];

/** What a value is bound to. */
export function placeOf(table: string, key: StoreKey): string {
  return JSON.stringify([table, key]);
}

// LMDB would make a new file, and tasks, handlers and secrets would be gone without a word.
function checkUnused(directory: string): void {
  const traces = [`${METADATA_FILE}-lock`, KEY_FILE].filter((name) =>
    existsSync(join(directory, name)),
  );
  if (traces.length === 0) return;
  throw new InvalidRequest(
    `${METADATA_FILE} is missing in ${directory}, where there was one before: put it back from a backup, or remove ${traces.join(' and ')} to begin with nothing`,
  );
}

function openRoot(file: string): RootDatabase {
  const root = open({
    path: file,
    noSubdir: true,
    maxDbs: 32,
    encoding: 'json',
    // Its own batches make promises that nobody can take, and the process would end when the disk
    // is full.
    eventTurnBatching: false,
    // A committed transaction is on disk; with overlapping syncs it would only be on its way.
    overlappingSync: false,
  });
  // LMDB makes them readable by others.
  for (const path of [file, `${file}-lock`]) if (existsSync(path)) chmodSync(path, PRIVATE_FILE);
  return root;
}

export class Metadata {
  readonly root: RootDatabase;
  readonly clusterId: string;
  readonly serverId: string;
  /** Where all writes take their room from. */
  readonly room: MetadataRoom;
  /** Seals values with secrets. */
  readonly cipher: StoreCipher;
  readonly #directory: string;
  readonly #feed: ChangeFeed | undefined;

  private constructor(parts: {
    readonly root: RootDatabase;
    readonly room: MetadataRoom;
    readonly directory: string;
    readonly identity: Identity;
    readonly cipher: StoreCipher;
    readonly options: OpenOptions;
  }) {
    const { root, room, directory, identity, cipher, options } = parts;
    this.root = root;
    this.room = room;
    this.cipher = cipher;
    this.#directory = directory;
    this.clusterId = options.clusterId ?? identity.clusterId;
    this.#feed = options.sink === undefined ? undefined : new ChangeFeed(root, options.sink);
    this.serverId = identity.serverId;
    options.sink?.opened(this);
  }

  /**
   * Opens the file in a directory, which is made when absent. Throws when it was written by a newer
   * version or with another key, and when it is gone from a directory where there was one.
   */
  static async open(directory: string, options: OpenOptions = NO_KEY_OPTIONS): Promise<Metadata> {
    makeDirectory(directory, { mode: PRIVATE_DIRECTORY });
    const isNew = !existsSync(join(directory, METADATA_FILE));
    if (isNew) checkUnused(directory);
    return Metadata.#open(directory, { ...options, isClean: isNew });
  }

  /** `isClean`: no page of the file holds what was there before values were sealed. */
  static async #open(
    directory: string,
    options: OpenOptions & { readonly isClean: boolean },
  ): Promise<Metadata> {
    const file = join(directory, METADATA_FILE);
    const isNew = !existsSync(file);
    const root = openRoot(file);
    const room = new MetadataRoom(root, file);
    // The first tables are made behind this one. What is there already can be read on a full disk,
    // too.
    const release = isNew ? room.take({ entries: FIRST_ENTRIES, bytes: 0 }) : undefined;
    const identities = root.openDB<Identity, string>({ name: 'identity', encoding: 'json' });
    let identity = identities.get('engine');
    if (identity === undefined) {
      identity = {
        formatVersion: FORMAT_VERSION,
        clusterId: randomUUID(),
        serverId: randomUUID(),
      };
      await identities.put('engine', identity);
    }
    release?.();
    try {
      if (identity.formatVersion > FORMAT_VERSION) {
        throw new Error(
          `metadata was written by a newer version. file=\`${file}\` version=${identity.formatVersion}`,
        );
      }
      const isNeeded = identity.keyCheck !== undefined;
      const cipher = readKey({ directory, ...options, isNeeded });
      const keyCheck = cipher.check(identity.clusterId);
      if (isNeeded && identity.keyCheck !== keyCheck) {
        throw new InvalidRequest(
          `${file} was written with another key than this one: put that one in its place, or name it with secrets-key`,
        );
      }
      const metadata = new Metadata({ root, room, directory, identity, cipher, options });
      if (isNeeded) return metadata;
      if (options.isClean) {
        const sealed = { ...identity, formatVersion: FORMAT_VERSION, keyCheck };
        await metadata.write({ entries: 1, bytes: 1024 }, () => identities.put('engine', sealed));
        return metadata;
      }
      // Written by a version that stored values as they are.
      await metadata.#sealAll();
      await metadata.#forgetOldPages(file);
      await metadata.close();
    } catch (error) {
      room.close();
      await root.close();
      throw error;
    }
    return Metadata.#open(directory, { ...options, isClean: true });
  }

  /** Seals values that are stored as they are. */
  async #sealAll(): Promise<void> {
    const changes: { readonly put: () => void; readonly bytes: number }[] = [];
    for (const name of SEALED_TABLES) {
      const table = this.root.openDB<Buffer, StoreKey>({ name, encoding: 'binary' });
      for (const { key, value } of table.getRange()) {
        const text = value.toString('utf8');
        if (isSealed(text)) continue;
        const sealed = Buffer.from(this.cipher.seal(placeOf(name, key), text));
        changes.push({ put: () => void table.put(key, sealed), bytes: sealed.length });
      }
    }
    const bytes = changes.reduce((sum, change) => sum + change.bytes, 0);
    await this.atomically({ entries: changes.length, bytes }, () => {
      for (const { put } of changes) put();
    });
  }

  /**
   * Replaces the file by a copy without the pages that are not used any more: they hold what was
   * there before.
   */
  async #forgetOldPages(file: string): Promise<void> {
    const copy = `${file}.sealed`;
    await rm(copy, { recursive: true, force: true });
    await this.root.backup(copy, true);
    const path = await backupFile(copy);
    await chmod(path, PRIVATE_FILE);
    await rename(path, file);
    await rm(copy, { recursive: true, force: true });
  }

  /** A table of JSON values by id. */
  table<V>(name: string): Table<V> {
    // The table prints its values itself, because it has to know how long they are; they are stored
    // as LMDB's own JSON.
    const database = this.root.openDB<string, string>({ name, encoding: 'string' });
    return new Table(this, database, SEALED_TABLES.includes(name) ? name : undefined);
  }

  /**
   * Makes changes in one transaction; resolves when it is on disk. `changes` is called at once,
   * only puts and removes, and opens no table. `size` is the size of all of them together. Throws
   * `Unavailable` with the reason when they can not be written.
   */
  async atomically(size: WriteSize, changes: () => void): Promise<void> {
    // Not `transaction`, whose callback a thread of Node's pool waits for: when the process exits
    // meanwhile, Node waits for that thread, and so forever.
    await this.write(size, () => this.root.batch(changes));
  }

  /** Makes changes of several tables, all or none. Throws as `atomically` does. */
  async changeAll(...lists: readonly StagedChanges[]): Promise<void> {
    const size = {
      entries: lists.reduce((sum, each) => sum + each.size.entries, 0),
      bytes: lists.reduce((sum, each) => sum + each.size.bytes, 0),
    };
    await this.atomically(size, () => {
      for (const { apply } of lists) apply();
    });
  }

  /**
   * Begins one write when there is room for it and resolves when it is on disk. Throws as
   * `atomically` does.
   */
  async write(size: WriteSize, begin: () => Promise<unknown>): Promise<void> {
    this.#feed?.check();
    const release = this.room.take(size);
    try {
      await begin();
      await this.root.flushed;
      await this.#feed?.flush();
    } catch (error) {
      // LMDB tells the reason in a promise of its own, which rejects a moment later.
      const cause: unknown =
        error instanceof Error && 'commitError' in error
          ? await Promise.resolve(error.commitError).catch((reason: unknown) => reason)
          : error;
      throw new Unavailable(`metadata can not be written: ${messageOf(cause)}`, { cause });
    } finally {
      release();
    }
  }

  /**
   * Reads a whole store and compacts nothing: its index is the tree itself, which either can be
   * read or is damaged. Throws when it is damaged.
   */
  async verify(store: string): Promise<void> {
    for (const _ of this.root
      .openDB<unknown, string>({ name: store, encoding: 'json' })
      .getRange()) {
      // Reading decodes and thereby checks each entry.
    }
    await this.root.flushed;
  }

  /** A consistent copy of the whole file. */
  async backup(): Promise<Buffer> {
    const path = join(this.#directory, `backup-${randomUUID()}.mdb`);
    try {
      await this.root.backup(path, true);
      return await readFile(await backupFile(path));
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  }

  async close(): Promise<void> {
    await this.root.flushed;
    this.room.close();
    await this.root.close();
  }
}

// Depending on how the environment was opened the copy is a file or a directory with one file in
// it.
async function backupFile(path: string): Promise<string> {
  try {
    await copyFile(join(path, 'data.mdb'), `${path}.copy`);
    await rm(`${path}.copy`);
    return join(path, 'data.mdb');
  } catch {
    // Not a directory: the copy is the file itself.
    return path;
  }
}

/** Changes of one table whose values have been printed; `apply` makes them, for `atomically`. */
export type StagedChanges = { readonly size: WriteSize; readonly apply: () => void };

/** What becomes of one id; `undefined` removes it. */
export type TableChange<V> = { readonly id: string; readonly value: V | undefined };

/** JSON values by id. Reads are synchronous, writes resolve when they are on disk. */
export class Table<V> {
  readonly #metadata: Metadata;
  readonly #database: Database<string, string>;
  readonly #sealedName: string | undefined;

  /** `sealedName` names a table whose values are encrypted. */
  constructor(
    metadata: Metadata,
    database: Database<string, string>,
    sealedName: string | undefined,
  ) {
    this.#metadata = metadata;
    this.#database = database;
    this.#sealedName = sealedName;
  }

  get(id: string): V | undefined {
    const text = this.#database.get(id);
    return text === undefined ? undefined : this.#parse(id, text);
  }

  has(id: string): boolean {
    return this.#database.doesExist(id);
  }

  /** All values in order of their ids. */
  *values(): Iterable<V> {
    for (const [, value] of this.entries()) yield value;
  }

  /** All values with their ids, in order of these. */
  *entries(): Iterable<readonly [id: string, value: V]> {
    for (const { key, value } of this.#database.getRange()) yield [key, this.#parse(key, value)];
  }

  count(): number {
    return this.#database.getKeysCount();
  }

  /** Prints changes, for `Metadata.changeAll`. */
  staged(changes: readonly TableChange<V>[]): StagedChanges {
    const texts = changes.map(({ id, value }) =>
      value === undefined ? undefined : this.#print(id, value),
    );
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
    return {
      size: { entries: changes.length, bytes },
      apply: () => {
        for (const [i, { id }] of changes.entries()) {
          const text = texts[i];
          if (text === undefined) void this.#database.remove(id);
          else void this.#database.put(id, text);
        }
      },
    };
  }

  async put(id: string, value: V): Promise<void> {
    await this.#put(id, value, false);
  }

  /**
   * As `put`, of a value that ends something: it may use the room that is kept for that on a full
   * disk.
   */
  async putEnd(id: string, value: V): Promise<void> {
    await this.#put(id, value, true);
  }

  async #put(id: string, value: V, isEnd: boolean): Promise<void> {
    const text = this.#print(id, value);
    const size = { entries: 1, bytes: Buffer.byteLength(text), isEnd };
    await this.#metadata.write(size, () => this.#database.put(id, text));
  }

  #print(id: string, value: V): string {
    const text = JSON.stringify(value);
    if (this.#sealedName === undefined) return text;
    return this.#metadata.cipher.seal(placeOf(this.#sealedName, id), text);
  }

  #parse(id: string, text: string): V {
    const name = this.#sealedName;
    const json = name === undefined ? text : this.#metadata.cipher.open(placeOf(name, id), text);
    return JSON.parse(json) as V;
  }

  async remove(id: string): Promise<void> {
    await this.#metadata.write({ entries: 1, bytes: 0 }, () => this.#database.remove(id));
  }

  /**
   * Several changes, all or none. Throws `Unavailable` with the reason when they can not be
   * written.
   */
  async change(changes: readonly TableChange<V>[]): Promise<void> {
    await this.#metadata.changeAll(this.staged(changes));
  }
}
