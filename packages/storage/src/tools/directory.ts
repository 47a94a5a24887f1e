// Shared by the offline tools: opens the directory of an engine by its manifest. The directory is
// locked meanwhile, so that no engine changes it.
import { Corruption } from '@tidemark/core';
import type { Damage, PolicyRef } from '@tidemark/storage-api';

import { damageOf, NewerFormat } from '../damage.ts';
import { lockStorage } from '../disk/storage-lock.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import type { Disk } from '../disk/disk.ts';
import { segmentPath, walDirectory } from '../disk/paths.ts';
import { manifestPath, readManifest } from '../manifest/manifest-file.ts';
import type { Manifest, ManifestShard } from '../manifest/manifest.ts';
import { lacksManifest, rebuildManifest } from '../manifest/rebuild.ts';
import { SegmentCaches } from '../segment/segment-caches.ts';
import { Segment } from '../segment/segment.ts';
import type { SegmentInfo } from '../segment/segment.ts';
import { checkLog } from '../wal/log-check.ts';
import type { LogCheck } from '../wal/log-check.ts';

export type ToolProgress = {
  readonly doneBytes: number;
  readonly totalBytes: number;
  /** The file in progress. */
  readonly file: string;
};

/** A policy that exists. */
export type KnownPolicy = Pick<PolicyRef, 'id' | 'database' | 'retentionPolicy'>;

export type ToolOptions = {
  readonly directory: string;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** The policies of the catalog, if it is known: shards of others are orphans. */
  readonly policies?: readonly KnownPolicy[] | undefined;
  readonly disk?: Disk | undefined;
};

export type OpenDirectory = {
  readonly disk: Disk;
  readonly directory: string;
  readonly manifest: Manifest;
  /** One of the two copies of the manifest is damaged. */
  readonly hasDamagedCopy: boolean;
  /**
   * Set when the manifest is missing or both copies are damaged: then `manifest` was rebuilt from
   * the other files on disk.
   */
  readonly rebuilt: Rebuilt | undefined;
};

export type Rebuilt = {
  /** The damage of the stored manifest. */
  readonly damage: Damage;
  readonly lost: readonly Damage[];
  /** Files of shards that are not part of the rebuilt manifest. */
  readonly leftOut: readonly string[];
};

/** Runs `work` with the directory locked. Throws `Conflict` when another process has the lock. */
export async function withDirectory<T>(
  { directory, disk }: ToolOptions,
  work: (open: OpenDirectory) => Promise<T>,
): Promise<T> {
  const lock = disk === undefined ? await lockStorage(directory) : undefined;
  try {
    const used = disk ?? nodeDisk();
    return await work({ disk: used, directory, ...findManifest(used, directory) });
  } finally {
    await lock?.release();
  }
}

/** The manifest of the directory, or a rebuilt one. */
function findManifest(
  disk: Disk,
  directory: string,
): Pick<OpenDirectory, 'manifest' | 'hasDamagedCopy' | 'rebuilt'> {
  const path = manifestPath(directory);
  let damage: Damage;
  try {
    if (disk.exists(path) || !lacksManifest(disk, directory)) {
      return { ...readManifest(disk, directory), rebuilt: undefined };
    }
    damage = { file: path, offset: 0, message: 'manifest is missing' };
  } catch (error) {
    if (error instanceof NewerFormat || !(error instanceof Corruption)) throw error;
    damage = damageOf(error, path);
  }
  const { manifest, ...rest } = rebuildManifest(disk, directory);
  return { manifest, hasDamagedCopy: false, rebuilt: { damage, ...rest } };
}

export function openSegment(
  { disk, directory }: OpenDirectory,
  shard: ManifestShard,
  info: SegmentInfo,
): Segment {
  const file = disk.open(segmentPath(directory, shard.descriptor.id, info.fileId), 'read');
  try {
    return Segment.open(info, file, new SegmentCaches());
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Checks the log as recovery does. */
export function openLog({ disk, directory, manifest }: OpenDirectory): LogCheck {
  const instances = new Map(manifest.databases.map(({ name, instance }) => [name, instance]));
  return checkLog({
    disk,
    directory,
    walStart: manifest.walStart,
    isListed: manifest.hasLogList ?? false,
    knows: ({ name, instance }) => instances.get(name) === instance,
  });
}

/** The files of the log, oldest first. */
export function logFiles({ disk, directory }: OpenDirectory): string[] {
  const path = walDirectory(directory);
  const names = disk.list(path).filter((name) => name.endsWith('.wal'));
  return names.map((name) => `${path}/${name}`);
}
