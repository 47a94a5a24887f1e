// The real file system.
import * as fs from 'node:fs';
import { promisify } from 'node:util';

import { makeDirectory, PRIVATE_DIRECTORY, PRIVATE_FILE } from '@tidemark/process';

import type { Disk, DiskFile, OpenMode } from './disk.ts';
import { FilePool, pooledFilesMax, readFully } from './file-pool.ts';

const fdatasync = promisify(fs.fdatasync);
const fsync = promisify(fs.fsync);

const FLAGS = { create: 'wx+', modify: 'r+' } as const satisfies Partial<Record<OpenMode, string>>;

/** `pool` holds the descriptors of files that are read. */
export function nodeDisk(pool = new FilePool(pooledFilesMax())): Disk {
  return {
    open: (path, mode) => {
      if (mode === 'read') return pool.openFile(path);
      const descriptor = pool.withRoom(() => fs.openSync(path, FLAGS[mode], PRIVATE_FILE));
      return new NodeFile(path, descriptor);
    },
    exists: (path) => fs.existsSync(path),
    makeDirectory: (path) => makeDirectory(path, { mode: PRIVATE_DIRECTORY }),
    list: (path) => (fs.existsSync(path) ? fs.readdirSync(path).sort() : []),
    rename: (from, to) => fs.renameSync(from, to),
    remove: (path) => fs.rmSync(path, { force: true }),
    removeDirectory: (path) => fs.rmSync(path, { force: true, recursive: true }),
    freeBytes: (path) => {
      const { bavail, bsize } = fs.statfsSync(path);
      return bavail * bsize;
    },
    syncDirectory: async (path) => {
      const descriptor = pool.withRoom(() => fs.openSync(path, 'r'));
      try {
        await fsync(descriptor);
      } finally {
        fs.closeSync(descriptor);
      }
    },
  };
}

class NodeFile implements DiskFile {
  readonly path: string;
  #descriptor: number;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  read(target: Uint8Array, position: number): number {
    return readFully(this.#descriptor, target, position);
  }

  write(bytes: Uint8Array, position: number): void {
    let done = 0;
    while (done < bytes.length) {
      done += fs.writeSync(this.#descriptor, bytes, done, bytes.length - done, position + done);
    }
  }

  size(): number {
    return fs.fstatSync(this.#descriptor).size;
  }

  truncate(length: number): void {
    fs.ftruncateSync(this.#descriptor, length);
  }

  async sync(): Promise<void> {
    await fdatasync(this.#descriptor);
  }

  close(): void {
    if (this.#descriptor < 0) return;
    fs.closeSync(this.#descriptor);
    this.#descriptor = -1;
  }
}
