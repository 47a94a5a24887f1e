// Files that are read as a whole.
import type { Disk } from './disk.ts';

/** The contents of a file. Throws when there is none. */
export function readFile(disk: Disk, path: string): Uint8Array {
  const file = disk.open(path, 'read');
  try {
    const bytes = new Uint8Array(file.size());
    file.read(bytes, 0);
    return bytes;
  } finally {
    file.close();
  }
}

/** Bytes of a file, 0 when there is none. */
export function sizeOf(disk: Disk, path: string): number {
  if (!disk.exists(path)) return 0;
  const file = disk.open(path, 'read');
  try {
    return file.size();
  } finally {
    file.close();
  }
}
