// A copy of what the manifest says about one shard, in a file beside its segments. `repair` builds
// a new manifest from these files when both copies of the manifest are damaged. Nothing else reads
// them. Format: docs/formats/manifest.md.
import { Corruption, utf8Text } from '@tidemark/core';
import type { Damage, StorageLog } from '@tidemark/storage-api';

import { utf8 } from '../columns/bytes.ts';
import { readCheckedFile, writeCheckedFile } from '../disk/checked-file.ts';
import type { CheckedFormat } from '../disk/checked-file.ts';
import type { Disk } from '../disk/disk.ts';
import { shardDirectory } from '../disk/paths.ts';
import { shardFromJson, shardToJson } from './manifest.ts';
import type { ManifestDatabase, ManifestShard, ShardJson } from './manifest.ts';
import type { ManifestParts } from './manifest-change.ts';

const FORMAT: CheckedFormat = { magic: 'TDMSHD', version: 2 };
export const SHARD_FILE_NAME = 'SHARD';

type ShardFile = {
  /** The database that the shard belongs to. */
  readonly database: ManifestDatabase;
  readonly shard: ManifestShard;
};

type ShardFileJson = { readonly database: ManifestDatabase; readonly shard: ShardJson };

/** Files that each commit after a start checks, in addition to those that it writes. */
const CHECKED_AT_ONCE = 16;

/** Keeps the files of shards as the manifest has them. */
export class ShardFiles {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #log: StorageLog;
  /** Shards whose files have to be written, or may lack the last commit before the start. */
  readonly #due: Set<number>;
  /** Shards whose files have not been read since the start, and may be damaged. */
  readonly #unchecked: Set<number>;

  constructor(options: {
    readonly disk: Disk;
    readonly directory: string;
    readonly log?: StorageLog | undefined;
    /** The shards that the last commit changed. */
    readonly lastChanged?: Iterable<number> | undefined;
    readonly shards?: Iterable<number> | undefined;
  }) {
    this.#disk = options.disk;
    this.#directory = options.directory;
    this.#log = options.log ?? (() => undefined);
    this.#due = new Set(options.lastChanged);
    this.#unchecked = new Set(options.shards);
  }

  /**
   * Writes the files of changed shards, and checks some others. What cannot be written now is
   * written after a later commit.
   */
  async update(manifest: ManifestParts, changed: ReadonlySet<number>): Promise<void> {
    for (const id of changed) this.#due.add(id);
    const ids = new Set(this.#due);
    for (const id of this.#unchecked) {
      if (ids.size >= this.#due.size + CHECKED_AT_ONCE) break;
      ids.add(id);
    }
    await this.#write(manifest, ids, changed);
    this.#due.clear();
    for (const id of ids) this.#unchecked.delete(id);
  }

  /** Writes all files that differ from the manifest. Resolves with their number. */
  updateAll(manifest: ManifestParts): Promise<number> {
    return this.#write(manifest, new Set(manifest.shards.keys()), new Set());
  }

  /** Writes the files of these shards, unless they have not changed and are as they should be. */
  async #write(
    { databases, shards }: ManifestParts,
    ids: ReadonlySet<number>,
    changed: ReadonlySet<number>,
  ): Promise<number> {
    let written = 0;
    for (const id of ids) {
      const shard = shards.get(id);
      const database = shard && databases.get(shard.descriptor.database);
      // A shard has no folder while all its rows are in the log.
      if (database === undefined || shard === undefined || shard.segments.length === 0) continue;
      // `index` changes with every flush; the files of all shards would have to be written again.
      const { index: _index, ...owner } = database;
      const text = JSON.stringify({ database: owner, shard: shardToJson(shard) });
      if (!changed.has(id) && this.#textOf(id) === text) continue;
      const path = shardFilePath(this.#directory, id);
      await writeCheckedFile(path, { format: FORMAT, body: utf8(text), disk: this.#disk });
      written++;
    }
    return written;
  }

  /** The contents; `undefined` when there are none, or when a copy is damaged. */
  #textOf(id: number): string | undefined {
    const path = shardFilePath(this.#directory, id);
    const fault = shardFileFault(this.#disk, path);
    if (fault !== undefined) {
      this.#log('error', fault.message, { file: path });
      return undefined;
    }
    const stored = readCheckedFile(path, FORMAT, this.#disk);
    return stored === undefined ? undefined : utf8Text(stored.body);
  }
}

export function shardFilePath(directory: string, id: number): string {
  return `${shardDirectory(directory, id)}/${SHARD_FILE_NAME}`;
}

/** The damage of a shard's file; `undefined` when there is none. */
export function shardFileFault(disk: Disk, path: string): Damage | undefined {
  const message = 'the file of a shard is damaged; the next write of the manifest replaces it';
  try {
    const hasDamagedCopy = readCheckedFile(path, FORMAT, disk)?.hasDamagedCopy === true;
    return hasDamagedCopy ? { file: path, offset: 0, message } : undefined;
  } catch (error) {
    if (!(error instanceof Corruption)) throw error;
    return { file: path, offset: 0, message };
  }
}

/**
 * Whether a shard with segments lacks its file, because the process ended right after the manifest
 * was written.
 */
export function lacksShardFile(
  disk: Disk,
  directory: string,
  { descriptor, segments, seriesFileBytes }: ManifestShard,
): boolean {
  // Versions that wrote no file of series keys did not always write this one.
  if (segments.length === 0 || seriesFileBytes === undefined) return false;
  return !disk.exists(shardFilePath(directory, descriptor.id));
}

/** Reads the file of a shard; `undefined` when there is none. Throws `Corruption`. */
export function readShardFile(disk: Disk, directory: string, id: number): ShardFile | undefined {
  const path = shardFilePath(directory, id);
  const stored = readCheckedFile(path, FORMAT, disk);
  if (stored === undefined) return undefined;
  try {
    const json = JSON.parse(utf8Text(stored.body)) as ShardFileJson;
    return { database: json.database, shard: shardFromJson(json.shard) };
  } catch (error) {
    // The checksum is right, so these bytes were written by another program.
    throw new Corruption(`file of a shard is damaged: ${String(error)}`, { file: path, offset: 0 });
  }
}
