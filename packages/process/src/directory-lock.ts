// A lock that gives a directory one owner across processes. The lock is an abstract unix socket,
// which ends with the process however it ends, so a killed process never blocks the next start. A
// file beside the data names the holder.
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';

import { Conflict } from '@tidemark/core';

import { PRIVATE_FILE } from './private-files.ts';

export type DirectoryLock = {
  /** Releases the lock. Idempotent. */
  release(): Promise<void>;
};

export type LockOptions = {
  /** Owners of different kinds may share a directory; lower-case letters. */
  readonly kind: string;
  /** Name of the file in the directory that identifies the holder. */
  readonly ownerFile: string;
};

/**
 * Locks a directory, which must exist. Throws `Conflict`, which names the holder, when it is held.
 */
export async function lockDirectory(
  directory: string,
  options: LockOptions,
): Promise<DirectoryLock> {
  // Device and inode identify the directory for every path to it.
  const { dev, ino } = statSync(directory, { bigint: true });
  const name = createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 40);
  const ownerPath = join(directory, options.ownerFile);
  const server = createServer();
  try {
    await listen(server, `\0tidemark-${options.kind}-${name}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Conflict(
      `data directory ${directory} is in use by ${describeOwner(ownerPath)}; stop it or choose another directory`,
      { cause: error },
    );
  }
  server.unref();
  try {
    const owner = { pid: process.pid, bootId: bootId() };
    writeFileSync(ownerPath, `${JSON.stringify(owner)}\n`, { mode: PRIVATE_FILE });
  } catch (error) {
    // A full disk: the lock is still held, and an engine has to start to free space.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') {
      await close(server);
      throw error;
    }
  }
  return { release: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // Closing a closed server is no failure.
    server.close(() => resolve());
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** For the message only; the lock does not depend on the file. */
function describeOwner(path: string): string {
  try {
    const owner: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof owner === 'object' && owner !== null && 'pid' in owner) {
      return `process ${String(owner.pid)}`;
    }
  } catch {
    // The owner is starting and has not written the file yet.
  }
  return 'a process that has just started';
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Not Linux.
    return '';
  }
}
