// Restoring a backup, or a chain of them, into a directory that holds no engine yet.
import { Conflict, Corruption, InvalidRequest } from '@tidemark/core';

import { nodeDisk } from '../disk/node-disk.ts';
import type { Disk, DiskFile } from '../disk/disk.ts';
import { indexDirectory, shardDirectory, shardsDirectory, walDirectory } from '../engine/paths.ts';
import { writeManifest } from '../manifest/manifest.ts';
import { IndexLog } from '../series/index-log.ts';
import { readBackup } from './backup-file.ts';
import type { BackupContents } from './backup-file.ts';
import type { ToolProgress } from './directory.ts';

export type RestoreOptions = {
  /** A full backup and the incremental ones after it, oldest first. */
  readonly files: readonly string[];
  /** Made when it does not exist. */
  readonly directory: string;
  /** New names of databases. */
  readonly renames?: ReadonlyMap<string, string> | undefined;
  /** New ids of retention policies, as the catalog gave them. */
  readonly policyIds?: ReadonlyMap<number, number> | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  readonly disk?: Disk | undefined;
};

export type RestoreReport = { readonly databases: readonly string[]; readonly segments: number };

export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { directory } = options;
  const disk = options.disk ?? nodeDisk();
  const last = options.files.at(-1);
  if (last === undefined) throw new InvalidRequest('no backup to restore from');
  disk.makeDirectory(directory);
  if (disk.exists(`${directory}/MANIFEST`)) {
    throw new Conflict(`directory holds a database already. directory=\`${directory}\``);
  }
  const contents = await contentsOf(disk, last);
  const wanted = new Map<string, number>();
  for (const { descriptor, segments } of contents.manifest.shards) {
    disk.makeDirectory(shardDirectory(directory, descriptor.id));
    for (const { fileId, sizeBytes } of segments) {
      const name = `${String(fileId).padStart(8, '0')}.seg`;
      wanted.set(`shards/${descriptor.id}/${name}`, sizeBytes);
    }
  }
  const count = wanted.size;
  // A segment never changes, so any backup of the chain that has it will do.
  for (const file of [...options.files].reverse()) await copyFiles(disk, file, wanted, options);
  const [missing] = wanted.keys();
  if (missing !== undefined) {
    throw new Corruption(`backup chain is incomplete: \`${missing}\` is in none of the files`, {
      file: last,
      offset: 0,
    });
  }
  await finish(disk, contents, options);
  const databases = contents.manifest.databases.map(({ name }) => renamed(name, options));
  return { databases, segments: count };
}

function renamed(name: string, { renames }: RestoreOptions): string {
  return renames?.get(name) ?? name;
}

async function contentsOf(disk: Disk, path: string): Promise<BackupContents> {
  let found: BackupContents | undefined;
  await readBackup(disk, path, {
    onContents: (contents) => {
      found = contents;
    },
    onFile: () => undefined,
    onBytes: () => undefined,
  });
  if (found === undefined)
    throw new Corruption('backup has no contents', { file: path, offset: 0 });
  return found;
}

async function copyFiles(
  disk: Disk,
  path: string,
  wanted: Map<string, number>,
  { directory, onProgress }: RestoreOptions,
): Promise<void> {
  let target: { readonly file: DiskFile; written: number; readonly sizeBytes: number } | undefined;
  let doneBytes = 0;
  const close = async (): Promise<void> => {
    if (target === undefined) return;
    if (target.written !== target.sizeBytes) {
      throw new Corruption('file in the backup is incomplete', { file: path, offset: 0 });
    }
    await target.file.sync();
    target.file.close();
    target = undefined;
  };
  await readBackup(disk, path, {
    onContents: () => undefined,
    onFile: async (name, sizeBytes) => {
      await close();
      // Only names that the manifest knows are written: a backup can not reach outside of the directory.
      if (wanted.get(name) !== sizeBytes) return;
      wanted.delete(name);
      onProgress?.({ doneBytes, totalBytes: 0, file: name });
      disk.remove(`${directory}/${name}`);
      target = { file: disk.open(`${directory}/${name}`, 'create'), written: 0, sizeBytes };
    },
    onBytes: (piece) => {
      doneBytes += piece.length;
      if (target === undefined) return;
      target.file.write(piece, target.written);
      target.written += piece.length;
    },
  });
  await close();
}

async function finish(
  disk: Disk,
  { manifest, series }: BackupContents,
  options: RestoreOptions,
): Promise<void> {
  const { directory, policyIds } = options;
  const index = indexDirectory(directory);
  for (const path of [index, walDirectory(directory), shardsDirectory(directory)]) {
    disk.makeDirectory(path);
  }
  for (const [instance, additions] of series) {
    const log = new IndexLog(disk, index, instance);
    log.remove();
    await log.append(additions);
  }
  for (const { descriptor } of manifest.shards) {
    await disk.syncDirectory(shardDirectory(directory, descriptor.id));
  }
  await disk.syncDirectory(shardsDirectory(directory));
  await writeManifest(disk, directory, {
    ...manifest,
    walStart: 0,
    databases: manifest.databases.map((d) => ({ ...d, name: renamed(d.name, options) })),
    shards: manifest.shards.map((shard) => ({
      ...shard,
      descriptor: {
        ...shard.descriptor,
        database: renamed(shard.descriptor.database, options),
        policyId: policyIds?.get(shard.descriptor.policyId) ?? shard.descriptor.policyId,
      },
    })),
  });
}
