// Restricts a service's files to its user: folders 0700, files 0600. Wider permissions from older
// versions or other tools are narrowed at startup.
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '@tidemark/core';

/** Modes of created files and directories. */
export const PRIVATE_DIRECTORY = 0o700;
export const PRIVATE_FILE = 0o600;

const OTHERS = 0o077;

export type NarrowResult = {
  /** Number of files and folders that others could use. */
  readonly narrowed: number;
  /**
   * Why one of them stays as it is: another user owns it, or its file system has no permissions.
   */
  readonly refusal: string | undefined;
};

/**
 * Removes the permissions of group and others from a folder and everything in it. Links and sockets
 * are left alone.
 */
export function narrowToOwner(directory: string): NarrowResult {
  let narrowed = 0;
  let refusal: string | undefined;
  const waiting = [directory];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    try {
      const status = lstatSync(path);
      if (!status.isDirectory() && !status.isFile()) continue;
      if ((status.mode & OTHERS) !== 0) {
        chmodSync(path, status.mode & 0o700);
        narrowed++;
      }
      if (!status.isDirectory()) continue;
      for (const name of readdirSync(path)) waiting.push(join(path, name));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process removed it meanwhile.
      if (code !== 'ENOENT') refusal ??= `${path}: ${messageOf(error)}`;
    }
  }
  return { narrowed, refusal };
}

/** As `narrowToOwner`, and logs the result. */
export function narrowAndLog(
  directory: string,
  log: (level: 'info' | 'warn', message: string, fields: Readonly<Record<string, unknown>>) => void,
): void {
  const { narrowed, refusal } = narrowToOwner(directory);
  if (narrowed > 0)
    log('info', 'files of the data directory could be used by others, no longer', {
      directory,
      count: narrowed,
    });
  if (refusal !== undefined)
    log(
      'warn',
      'files of the data directory can be used by others; give the directory to the user of the service with chown and chmod 0700',
      {
        directory,
        reason: refusal,
      },
    );
}
