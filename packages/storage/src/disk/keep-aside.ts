// The folder for damaged files. Contents that are cut off, replaced or given up are kept there, so
// that people can examine them.
import type { Disk } from './disk.ts';
import { readFile } from './read-file.ts';

/** A directory of an engine and the disk that it is on. */
export type Place = { readonly disk: Disk; readonly directory: string };

export function damagedDirectory(directory: string): string {
  return `${directory}/damaged`;
}

/**
 * Moves files to that folder; their new names contain their old folder. Missing ones are skipped.
 */
export async function moveAside(
  { disk, directory }: Place,
  paths: readonly string[],
): Promise<void> {
  const to = damagedDirectory(directory);
  disk.makeDirectory(to);
  for (const path of paths) {
    if (disk.exists(path))
      disk.rename(path, freeName(disk, to, path.split('/').slice(-2).join('-')));
  }
  await disk.syncDirectory(to);
}

/** Keeps a copy of a file that is about to be truncated or replaced. */
export async function copyAside({ disk, directory }: Place, path: string): Promise<void> {
  if (!disk.exists(path)) return;
  const bytes = readFile(disk, path);
  const to = damagedDirectory(directory);
  disk.makeDirectory(to);
  await writeFile(disk, freeName(disk, to, path.split('/').at(-1) ?? ''), [bytes]);
  await disk.syncDirectory(to);
}

/** A name that no file kept earlier has. */
function freeName(disk: Disk, directory: string, name: string): string {
  let path = `${directory}/${name}`;
  for (let copy = 2; disk.exists(path); copy++) path = `${directory}/${name}.${copy}`;
  return path;
}

/** Writes and syncs a file, replacing one of the same name. */
export async function writeFile(
  disk: Disk,
  path: string,
  parts: readonly Uint8Array[],
): Promise<void> {
  disk.remove(path);
  const file = disk.open(path, 'create');
  try {
    let at = 0;
    for (const part of parts) {
      file.write(part, at);
      at += part.length;
    }
    await file.sync();
  } finally {
    file.close();
  }
}
