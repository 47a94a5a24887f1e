// One engine per data directory. The lock is an abstract unix socket: it goes with the process, however that ends, so
// a killed engine never blocks the next start. A file beside the data says who holds it.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { Conflict } from '@tidemark/core';

const OWNER_FILE = 'engine-owner.json';

export type DirectoryLock = {
  /** Lets others in. Calling it again does nothing. */
  release(): Promise<void>;
};

/** Makes the directory when it is absent. Throws `Conflict` when another engine, of this process or not, holds it. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  mkdirSync(directory, { recursive: true });
  // Device and inode name the directory whatever path leads to it.
  const { dev, ino } = statSync(directory, { bigint: true });
  const name = createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 40);
  const server = createServer();
  try {
    await listen(server, `\0tidemark-engine-${name}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Conflict(
      `data directory ${directory} is in use by another engine (${ownerOf(directory)}); stop that one or choose another directory`,
    );
  }
  server.unref();
  writeFileSync(join(directory, OWNER_FILE), `${JSON.stringify({ pid: process.pid })}\n`);
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

/** For the message only; the lock does not depend on the file. */
function ownerOf(directory: string): string {
  try {
    const owner: unknown = JSON.parse(readFileSync(join(directory, OWNER_FILE), 'utf8'));
    const pid = typeof owner === 'object' && owner !== null && 'pid' in owner ? owner.pid : '';
    return `process ${String(pid)}`;
  } catch {
    // The owner is starting and has not written the file yet.
    return 'which has just started';
  }
}
