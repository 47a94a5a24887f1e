// One process per directory. The lock is an abstract unix socket: it goes with the process, however that ends, so a
// killed process never blocks the next start. A file beside the data says who holds it.
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';

import { Conflict } from '@tidemark/core';

const FILE_NAME = 'owner.json';

export type DirectoryLock = { release(): Promise<void> };

/** Throws `Conflict` when another process (or another engine of this one) owns the directory, which must exist. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  // Device and inode name the directory whatever path leads to it.
  const { dev, ino } = statSync(directory, { bigint: true });
  const name = createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 40);
  const server = createServer();
  try {
    await listen(server, `\0tidemark-storage-${name}`);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EADDRINUSE') throw error;
    throw new Conflict(
      `data directory is in use by another process. directory=\`${directory}\` owner=\`${ownerOf(directory)}\``,
    );
  }
  server.unref();
  writeFileSync(
    `${directory}/${FILE_NAME}`,
    `${JSON.stringify({ pid: process.pid, bootId: bootId() })}\n`,
  );
  return {
    release: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
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

/** For people who look; the lock does not depend on it. */
function ownerOf(directory: string): string {
  try {
    return readFileSync(`${directory}/${FILE_NAME}`, 'utf8').trim();
  } catch {
    // The owner is starting and has not written the file yet.
    return 'unknown';
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Not Linux.
    return '';
  }
}
