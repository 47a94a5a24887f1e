// The lock of an engine's directory: taken by the engine, and by the tools that work on its files.
import { lockDirectory } from '@tidemark/process';
import type { DirectoryLock } from '@tidemark/process';

/**
 * Throws `Conflict` when another process (or another engine of this one) owns the directory, which
 * must exist.
 */
export function lockStorage(directory: string): Promise<DirectoryLock> {
  return lockDirectory(directory, { kind: 'storage', ownerFile: 'owner.json' });
}
