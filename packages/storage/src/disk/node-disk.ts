// The real file system.
import * as fs from 'node:fs';
import { promisify } from 'node:util';

import type { Disk, DiskFile, OpenMode } from './disk.ts';

const fdatasync = promisify(fs.fdatasync);
const fsync = promisify(fs.fsync);

const FLAGS: Readonly<Record<OpenMode, string>> = { read: 'r', create: 'wx+', modify: 'r+' };

export function nodeDisk(): Disk {
  return {
    open: (path, mode) => new NodeFile(path, fs.openSync(path, FLAGS[mode], 0o640)),
    exists: (path) => fs.existsSync(path),
    makeDirectory: (path) => {
      fs.mkdirSync(path, { recursive: true, mode: 0o750 });
    },
    list: (path) => (fs.existsSync(path) ? fs.readdirSync(path).sort() : []),
    rename: (from, to) => fs.renameSync(from, to),
    remove: (path) => fs.rmSync(path, { force: true }),
    removeDirectory: (path) => fs.rmSync(path, { force: true, recursive: true }),
    syncDirectory: async (path) => {
      const descriptor = fs.openSync(path, 'r');
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
    let done = 0;
    while (done < target.length) {
      const count = fs.readSync(
        this.#descriptor,
        target,
        done,
        target.length - done,
        position + done,
      );
      if (count === 0) break;
      done += count;
    }
    return done;
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
