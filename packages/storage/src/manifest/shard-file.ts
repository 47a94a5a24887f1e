// What the manifest says of one shard, in a file of its own beside the segments: `repair` makes a manifest of these when
// both copies of the present one are damaged. Nothing else reads them. Format: docs/formats/manifest.md.
import { Corruption } from '@tidemark/core';

import { utf8, utf8Text } from '../bytes.ts';
import { readCheckedFile, writeCheckedFile } from '../disk/checked-file.ts';
import type { CheckedFormat } from '../disk/checked-file.ts';
import type { Disk } from '../disk/disk.ts';
import { shardDirectory } from '../engine/paths.ts';
import { shardFromJson, shardToJson } from './manifest.ts';
import type { Manifest, ManifestDatabase, ManifestShard, ShardJson } from './manifest.ts';

const FORMAT: CheckedFormat = { magic: 'TDMSHD', version: 2 };
export const SHARD_FILE_NAME = 'SHARD';

type ShardFile = {
  /** Owner of the shard. */
  readonly database: ManifestDatabase;
  readonly shard: ManifestShard;
};

type ShardFileJson = { readonly database: ManifestDatabase; readonly shard: ShardJson };

/** Keeps the files of shards in step with the manifest; one per engine. */
export class ShardFiles {
  readonly #disk: Disk;
  readonly #directory: string;
  /** What the files hold, as far as it is known. */
  readonly #written = new Map<number, string>();

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  /** Brings the files of those shards up to date that have a folder and whose state has changed. Durable when it resolves. */
  async update(manifest: Manifest): Promise<void> {
    const owners = new Map(manifest.databases.map((database) => [database.name, database]));
    for (const shard of manifest.shards) {
      const { id, database: name } = shard.descriptor;
      const database = owners.get(name);
      const folder = shardDirectory(this.#directory, id);
      // A shard whose rows are in the log only has no folder.
      if (database === undefined || shard.segments.length === 0) continue;
      const text = JSON.stringify({ database, shard: shardToJson(shard) });
      if (this.#known(id) === text) continue;
      const path = `${folder}/${SHARD_FILE_NAME}`;
      await writeCheckedFile(path, { format: FORMAT, body: utf8(text), disk: this.#disk });
      this.#written.set(id, text);
    }
  }

  #known(id: number): string | undefined {
    const known = this.#written.get(id);
    if (known !== undefined) return known;
    const path = `${shardDirectory(this.#directory, id)}/${SHARD_FILE_NAME}`;
    try {
      const stored = readCheckedFile(path, FORMAT, this.#disk);
      if (stored === undefined || stored.isMended) return undefined;
      const text = utf8Text(stored.body);
      this.#written.set(id, text);
      return text;
    } catch (error) {
      // A damaged one is written anew.
      if (error instanceof Corruption) return undefined;
      throw error;
    }
  }
}

/** The file of a shard; `undefined` when there is none. Throws `Corruption`. */
export function readShardFile(disk: Disk, directory: string, id: number): ShardFile | undefined {
  const path = `${shardDirectory(directory, id)}/${SHARD_FILE_NAME}`;
  const stored = readCheckedFile(path, FORMAT, disk);
  if (stored === undefined) return undefined;
  try {
    const json = JSON.parse(utf8Text(stored.body)) as ShardFileJson;
    return { database: json.database, shard: shardFromJson(json.shard) };
  } catch (error) {
    // The checksum fits, so another program wrote this.
    throw new Corruption(`file of a shard is damaged: ${String(error)}`, { file: path, offset: 0 });
  }
}
