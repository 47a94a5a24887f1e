// Checks that a directory is valid after its engine was closed, and that after opening it contains
// exactly the files that the manifest names.
import { checkpointFileName } from '../../../series/checkpoint.ts';
import { indexFileName } from '../../../series/index-log.ts';
import { readManifest } from '../../../manifest/manifest-file.ts';
import { verifyDirectory } from '../../../tools/verify.ts';
import { walFileId } from '../../../wal/wal.ts';
import type { SimulatedDisk } from '../../simulated-disk.ts';
import { DIRECTORY } from '../workload/subject.ts';

/** What is wrong; `undefined` when nothing is. */
export async function checkDirectory(disk: SimulatedDisk): Promise<string | undefined> {
  const { damage } = await verifyDirectory({ directory: DIRECTORY, disk: disk.copy() });
  return damage.length > 0 ? `verify finds damage: ${JSON.stringify(damage)}` : undefined;
}

/** Whether damage of a file is found. */
export async function finds(disk: SimulatedDisk, path: string): Promise<boolean> {
  const { damage } = await verifyDirectory({ directory: DIRECTORY, disk });
  return damage.some(({ file }) => file === path);
}

/** Files that neither the manifest names nor belong to a shard that is only in the log so far. */
export function unnamedFiles(disk: SimulatedDisk, shardIds: readonly number[]): string[] {
  return disk.paths().filter((path) => !isNamed(disk, path, shardIds));
}

function isNamed(disk: SimulatedDisk, path: string, shardIds: readonly number[]): boolean {
  // The next write of the same file replaces it.
  if (path.endsWith('.tmp')) return true;
  const { manifest } = readManifest(disk, DIRECTORY);
  // Journals that do not count are removed with the next checkpoint.
  if (/\/MANIFEST\.\d+$/.test(path)) return true;
  const [folder = '', name = '', file = ''] = path.slice(DIRECTORY.length + 1).split('/');
  switch (folder) {
    case 'MANIFEST':
    case 'damaged':
      return true;
    case 'wal': {
      const id = walFileId(name);
      return name === 'FILES' || (id !== undefined && id >= manifest.walStart);
    }
    case 'index':
      // Databases that are only in the log so far have index files too, when a flush has begun.
      if (shardIds.length > manifest.shards.length) return true;
      return manifest.databases.some(({ instance, indexFile = instance }) =>
        [indexFileName(indexFile), checkpointFileName(indexFile)].includes(name),
      );
    case 'shards': {
      const shard = manifest.shards.find(({ descriptor }) => String(descriptor.id) === name);
      if (file === 'SHARD' || file === 'SERIES') return shardIds.includes(Number(name));
      if (shard === undefined) return false;
      return shard.segments.some(({ fileId }) => file === `${String(fileId).padStart(8, '0')}.seg`);
    }
    default:
      return false;
  }
}
