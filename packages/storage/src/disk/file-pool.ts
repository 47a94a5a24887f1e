// A pool of file descriptors for reading, of bounded size: a database with thousands of segments
// must not need thousands of descriptors. The least recently used descriptor is closed to make
// room, and those that nobody uses for a while are closed, too: the files of old shards are not
// open. A file is opened again when it is read.
import * as fs from 'node:fs';

import { assert } from '@tidemark/core';

import type { DiskFile } from './disk.ts';

/** Descriptors left for everything else in the process: sockets, log, catalog, threads. */
const RESERVED_FILES = 64;
const POOLED_FILES_MAX = 256;
const POOLED_FILES_MIN = 8;
/** A descriptor is closed when it was not used for one to two of these intervals. */
const UNUSED_MS = 30_000;

/**
 * How many files one of some pools may have open for reading: all together a quarter of what the
 * process may open, within bounds.
 */
export function pooledFilesMax(pools = 1): number {
  const quarter = Math.floor((openFilesLimit() - RESERVED_FILES) / 4);
  return Math.max(POOLED_FILES_MIN, Math.floor(Math.min(POOLED_FILES_MAX, quarter) / pools));
}

/** Soft limit of the process's descriptors; a common minimum where it is unknown. */
function openFilesLimit(): number {
  const COMMON_LIMIT = 1024;
  if (!fs.existsSync('/proc/self/limits')) return COMMON_LIMIT;
  const line = /^Max open files\s+(\d+|unlimited)/m.exec(
    fs.readFileSync('/proc/self/limits', 'utf8'),
  );
  const limit = Number(line?.[1] ?? COMMON_LIMIT);
  return Number.isNaN(limit) ? Number.MAX_SAFE_INTEGER : limit;
}

type Open = { readonly descriptor: number; readonly interval: number };

export class FilePool {
  readonly #filesMax: number;
  readonly #unusedMs: number;
  /** Files with a descriptor and the interval of their last use, least recently used first. */
  readonly #open = new Map<PooledFile, Open>();
  #interval = 0;
  /** Runs while there are descriptors. */
  #timer: NodeJS.Timeout | undefined;

  constructor(filesMax: number, unusedMs = UNUSED_MS) {
    assert(filesMax > 0, 'a file is read through a descriptor');
    this.#filesMax = filesMax;
    this.#unusedMs = unusedMs;
  }

  /** Number of open descriptors. */
  get openFiles(): number {
    return this.#open.size;
  }

  /** Opens a file; like `fs.openSync` it throws when there is none. */
  openFile(path: string): DiskFile {
    const file = new PooledFile(path, this);
    this.descriptor(file);
    return file;
  }

  /** The descriptor of a file, valid until the next call to the pool. */
  descriptor(file: PooledFile): number {
    let descriptor = this.#open.get(file)?.descriptor;
    if (descriptor === undefined) {
      while (this.#open.size >= this.#filesMax) this.#closeOldest();
      descriptor = this.withRoom(() => fs.openSync(file.path, 'r'));
    } else this.#open.delete(file);
    this.#open.set(file, { descriptor, interval: this.#interval });
    this.#timer ??= setInterval(() => this.#closeUnused(), this.#unusedMs).unref();
    return descriptor;
  }

  release(file: PooledFile): void {
    const open = this.#open.get(file);
    if (open === undefined) return;
    this.#open.delete(file);
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    fs.closeSync(open.descriptor);
  }

  /**
   * Runs `open`. When it fails because the process has no descriptors left, closes one of the pool
   * and tries again, until the pool is empty.
   */
  withRoom<T>(open: () => T): T {
    for (;;) {
      try {
        return open();
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if ((code !== 'EMFILE' && code !== 'ENFILE') || this.#open.size === 0) throw error;
        this.#closeOldest();
      }
    }
  }

  #closeUnused(): void {
    for (const [file, { interval }] of this.#open) {
      if (interval === this.#interval) break;
      this.release(file);
    }
    this.#interval++;
  }

  #closeOldest(): void {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined) this.release(oldest);
  }
}

class PooledFile implements DiskFile {
  readonly path: string;
  readonly #pool: FilePool;
  #isClosed = false;

  constructor(path: string, pool: FilePool) {
    this.path = path;
    this.#pool = pool;
  }

  read(target: Uint8Array, position: number): number {
    return readFully(this.#descriptor(), target, position);
  }

  size(): number {
    return fs.fstatSync(this.#descriptor()).size;
  }

  write(): void {
    assert(false, 'the file is open for reading');
  }

  truncate(): void {
    assert(false, 'the file is open for reading');
  }

  async sync(): Promise<void> {
    // Nothing was written.
  }

  close(): void {
    this.#isClosed = true;
    this.#pool.release(this);
  }

  #descriptor(): number {
    assert(!this.#isClosed, 'a file is read before it is closed');
    return this.#pool.descriptor(this);
  }
}

/** Returns the number of bytes read, fewer than requested at the end of the file. */
export function readFully(descriptor: number, target: Uint8Array, position: number): number {
  let done = 0;
  while (done < target.length) {
    const left = target.length - done;
    const count = fs.readSync(descriptor, target, done, left, position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}
