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
import type { Manifest, ManifestDatabase, ManifestShard, ShardJson } from './manifest.ts';

const FORMAT: CheckedFormat = { magic: 'TDMSHD', version: 2 };
export const SHARD_FILE_NAME = 'SHARD';

type ShardFile = {
  /** The database that the shard belongs to. */
  readonly database: ManifestDatabase;
  readonly shard: ManifestShard;
};

type ShardFileJson = { readonly database: ManifestDatabase; readonly shard: ShardJson };

/** Updates the files of shards when the manifest changes. */
export class ShardFiles {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #log: StorageLog;
  /** Contents of the files as far as they are known. */
  readonly #written = new Map<number, string>();

  constructor(disk: Disk, directory: string, log: StorageLog = () => undefined) {
    this.#disk = disk;
    this.#directory = directory;
    this.#log = log;
  }

  /**
   * Updates the files of shards that have a folder and have changed, and replaces damaged ones.
   * Resolves with the number of files written when they are durable.
   */
  async update(manifest: Manifest): Promise<number> {
    let written = 0;
    const owners = new Map(manifest.databases.map((database) => [database.name, database]));
    for (const shard of manifest.shards) {
      const { id, database: name } = shard.descriptor;
      const database = owners.get(name);
      // A shard has no folder while all its rows are in the log.
      if (database === undefined || shard.segments.length === 0) continue;
      // `index` changes with every flush; the files of all shards would have to be written again.
      const { index: _index, ...owner } = database;
      const text = JSON.stringify({ database: owner, shard: shardToJson(shard) });
      if (this.#known(id) === text) continue;
      const path = shardFilePath(this.#directory, id);
      await writeCheckedFile(path, { format: FORMAT, body: utf8(text), disk: this.#disk });
      this.#written.set(id, text);
      written++;
    }
    return written;
  }

  #known(id: number): string | undefined {
    const known = this.#written.get(id);
    if (known !== undefined) return known;
    const path = shardFilePath(this.#directory, id);
    const fault = shardFileFault(this.#disk, path);
    if (fault !== undefined) {
      this.#log('error', fault.message, { file: path });
      return undefined;
    }
    const stored = readCheckedFile(path, FORMAT, this.#disk);
    if (stored === undefined) return undefined;
    const text = utf8Text(stored.body);
    this.#written.set(id, text);
    return text;
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
