// Room for what frees space: a file that is removed when the disk is full, so that deletes and
// drops can still be logged, and made again when there is room. While it is missing nothing else
// may be written, or the next drop would find no room.
import { randomFillSync } from 'node:crypto';

import { messageOf, Unavailable } from '@tidemark/core';

import { LIMITS } from '../limits.ts';
import type { StorageLog } from '../options.ts';
import type { Disk } from './disk.ts';

export type ReserveOptions = {
  readonly disk: Disk;
  readonly path: string;
  /** 0: there is none, and nothing is refused for the lack of it. */
  readonly sizeBytes: number;
  readonly log: StorageLog;
};

/** Written at once: a millisecond of the thread's time. */
const PIECE_BYTES = 1 << 20;
/**
 * It is made when there is so many times the room: else the next write would take what it was given
 * back for.
 */
const ROOM_FACTOR = 2;

export class DiskReserve {
  readonly #options: ReserveOptions;
  /** `unknown`: it is not there, and nobody has looked yet whether there is room. */
  #state: 'unknown' | 'held' | 'missing' = 'unknown';

  #making: Promise<void> | undefined;

  constructor(options: ReserveOptions) {
    this.#options = options;
    const { disk, path, sizeBytes } = options;
    if (sizeBytes > 0 && sizeOf(disk, path) === sizeBytes) this.#state = 'held';
  }

  /** The disk was or is full: only what frees space may be written. */
  get isMissing(): boolean {
    return this.#state === 'missing';
  }

  /**
   * Rejects with `Unavailable` while the disk is so full that only what frees space may be written.
   * Nothing to wait for, and no promise, while it is not.
   */
  admit(): Promise<void> | undefined {
    return this.isMissing ? this.#admitLater() : undefined;
  }

  async #admitLater(): Promise<void> {
    await this.make();
    if (!this.isMissing) return;
    const { sizeBytes } = this.#options;
    throw new Unavailable(
      `no space left on device: writes are taken again when ${ROOM_FACTOR * sizeBytes} bytes are free, deletes and drops at any time. setting=\`${LIMITS.reserveBytes.setting}\``,
    );
  }

  /**
   * Runs what frees space, or is part of that. When the disk is full it is run again, in the room
   * that was kept for it.
   */
  async use<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      if (!isDiskFull(error) || !this.#release()) throw error;
      return await action();
    }
  }

  /**
   * Makes it if it is missing and there is room. `pause` is called behind each piece. Failures are
   * logged.
   */
  make(pause: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    if (this.#options.sizeBytes === 0 || this.#state === 'held') return Promise.resolve();
    this.#making ??= this.#make(pause).finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(pause: () => Promise<void>): Promise<void> {
    const { disk, path, sizeBytes, log } = this.#options;
    const folder = path.slice(0, path.lastIndexOf('/'));
    try {
      disk.remove(path);
      if (disk.freeBytes(folder) < ROOM_FACTOR * sizeBytes) return this.#miss();
      await this.#write(pause);
      await disk.syncDirectory(folder);
      if (this.#state === 'missing')
        log('info', 'there is space again: writes are taken', { path });
      this.#state = 'held';
    } catch (error) {
      disk.remove(path);
      this.#miss(error);
    }
  }

  async #write(pause: () => Promise<void>): Promise<void> {
    const { disk, path, sizeBytes } = this.#options;
    // Of zeros some file systems store nothing.
    const piece = randomFillSync(new Uint8Array(Math.min(PIECE_BYTES, sizeBytes)));
    const file = disk.open(path, 'create');
    try {
      for (let at = 0; at < sizeBytes; at += piece.length) {
        file.write(piece.subarray(0, Math.min(piece.length, sizeBytes - at)), at);
        await pause();
      }
      await file.sync();
    } finally {
      file.close();
    }
  }

  #release(): boolean {
    if (this.#state !== 'held') return false;
    const { disk, path } = this.#options;
    disk.remove(path);
    this.#miss();
    return true;
  }

  #miss(error?: unknown): void {
    const { path, sizeBytes, log } = this.#options;
    if (this.#state !== 'missing') {
      const details = { path, sizeBytes, setting: LIMITS.reserveBytes.setting };
      const reason = error === undefined ? {} : { reason: messageOf(error) };
      log('error', 'the disk is full: only deletes and drops are taken', { ...details, ...reason });
    }
    this.#state = 'missing';
  }
}

function sizeOf(disk: Disk, path: string): number {
  if (!disk.exists(path)) return 0;
  const file = disk.open(path, 'read');
  try {
    return file.size();
  } finally {
    file.close();
  }
}

/** Whether this, or what caused it, is that there is no room. */
function isDiskFull(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') return true;
  }
  return false;
}
