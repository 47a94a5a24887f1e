// The engine's metadata: one LMDB file that holds tasks, templates, recordings, replays, overrides, handlers and topics.
// It is also the backup. A write is answered only after it is on disk.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, Unavailable } from '@tidemark/core';
import { makeDirectory } from '@tidemark/core/make-directory';
import { open } from 'lmdb';
import type { Database, RootDatabase } from 'lmdb';
import { MetadataRoom } from './metadata-room.ts';
import type { WriteSize } from './metadata-room.ts';

/** Name of the file inside the data directory, and of the backup that clients download. */
export const METADATA_FILE = 'engine.mdb';

// Rises with every change of the tables that an older engine would misread.
const FORMAT_VERSION = 1;

// Some tables with a page each.
const FIRST_ENTRIES = 32;

type Identity = {
  readonly formatVersion: number;
  readonly clusterId: string;
  readonly serverId: string;
};

export class Metadata {
  readonly root: RootDatabase;
  readonly clusterId: string;
  readonly serverId: string;
  /** Where all writes take their room from. */
  readonly room: MetadataRoom;
  readonly #directory: string;

  private constructor(
    root: RootDatabase,
    room: MetadataRoom,
    directory: string,
    identity: Identity,
  ) {
    this.root = root;
    this.room = room;
    this.#directory = directory;
    this.clusterId = identity.clusterId;
    this.serverId = identity.serverId;
  }

  /** Opens the file in a directory, which is made when absent. */
  static async open(directory: string): Promise<Metadata> {
    makeDirectory(directory);
    const file = join(directory, METADATA_FILE);
    const isNew = !existsSync(file);
    const root = open({
      path: file,
      noSubdir: true,
      maxDbs: 32,
      encoding: 'json',
      // Its own batches make promises that nobody can take, and the process would end when the disk is full.
      eventTurnBatching: false,
      // A committed transaction is on disk; with overlapping syncs it would only be on its way.
      overlappingSync: false,
    });
    const room = new MetadataRoom(root, file);
    // The first tables are made behind this one. What is there already can be read on a full disk, too.
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
    if (identity.formatVersion > FORMAT_VERSION) {
      room.close();
      await root.close();
      throw new Error(
        `metadata was written by a newer version. file=\`${file}\` version=${identity.formatVersion}`,
      );
    }
    return new Metadata(root, room, directory, identity);
  }

  /** A table of JSON values by id. */
  table<V>(name: string): Table<V> {
    // The table prints its values itself, because it has to know how long they are; they are stored as LMDB's own JSON.
    return new Table(this, this.root.openDB<string, string>({ name, encoding: 'string' }));
  }

  /**
   * Runs changes in one transaction; resolves when it is on disk. `size` is the size of all of them together. Throws
   * `Unavailable` with the reason when they can not be written.
   */
  async atomically(size: WriteSize, changes: () => void): Promise<void> {
    await this.write(size, () => this.root.transaction(changes));
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

  /** Begins one write when there is room for it and resolves when it is on disk. Throws as `atomically` does. */
  async write(size: WriteSize, begin: () => Promise<unknown>): Promise<void> {
    const release = this.room.take(size);
    try {
      await begin();
      await this.root.flushed;
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
   * Reads a whole store and compacts nothing: its index is the tree itself, which either can be read or is damaged.
   * Throws when it is damaged.
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

// Depending on how the environment was opened the copy is a file or a directory with one file in it.
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

/** Changes of one table whose values have been printed; `apply` makes them, only inside a transaction. */
export type StagedChanges = { readonly size: WriteSize; readonly apply: () => void };

/** What becomes of one id; `undefined` removes it. */
export type TableChange<V> = { readonly id: string; readonly value: V | undefined };

/** JSON values by id. Reads are synchronous, writes resolve when they are on disk. */
export class Table<V> {
  readonly #metadata: Metadata;
  readonly #database: Database<string, string>;

  constructor(metadata: Metadata, database: Database<string, string>) {
    this.#metadata = metadata;
    this.#database = database;
  }

  get(id: string): V | undefined {
    const text = this.#database.get(id);
    return text === undefined ? undefined : (JSON.parse(text) as V);
  }

  has(id: string): boolean {
    return this.#database.doesExist(id);
  }

  /** All values in order of their ids. */
  *values(): Iterable<V> {
    for (const { value } of this.#database.getRange()) yield JSON.parse(value) as V;
  }

  count(): number {
    return this.#database.getKeysCount();
  }

  /** Prints changes, for `Metadata.changeAll`. */
  staged(changes: readonly TableChange<V>[]): StagedChanges {
    const texts = changes.map(({ value }) =>
      value === undefined ? undefined : JSON.stringify(value),
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

  /** As `put`, of a value that ends something: it may use the room that is kept for that on a full disk. */
  async putEnd(id: string, value: V): Promise<void> {
    await this.#put(id, value, true);
  }

  async #put(id: string, value: V, isEnd: boolean): Promise<void> {
    const text = JSON.stringify(value);
    const size = { entries: 1, bytes: Buffer.byteLength(text), isEnd };
    await this.#metadata.write(size, () => this.#database.put(id, text));
  }

  async remove(id: string): Promise<void> {
    await this.#metadata.write({ entries: 1, bytes: 0 }, () => this.#database.remove(id));
  }

  /** Several changes, all or none. Throws `Unavailable` with the reason when they can not be written. */
  async change(changes: readonly TableChange<V>[]): Promise<void> {
    await this.#metadata.changeAll(this.staged(changes));
  }
}
