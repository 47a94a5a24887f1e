// The disk reserve: a file that is removed when the disk is full, so that deletes and drops, which
// free space, can still be logged. It is created again when there is space. While it is missing,
// nothing else may be written: the next drop would find no space.
import { randomFillSync } from 'node:crypto';

import { messageOf, Unavailable } from '@tidemark/core';
import type { StorageLog } from '@tidemark/storage-api';

import { LIMITS } from '../limits.ts';
import { isDiskFull } from './disk-errors.ts';
import type { Disk } from './disk.ts';
import { sizeOf } from './read-file.ts';

export type ReserveOptions = {
  readonly disk: Disk;
  readonly path: string;
  /** 0 means no reserve; then no write is refused because of it. */
  readonly sizeBytes: number;
  readonly log: StorageLog;
};

/** Bytes written at a time, which takes about a millisecond. */
const PIECE_BYTES = 1 << 20;
/**
 * The reserve is created when the free space is this many times its size: otherwise the disk would
 * be full again right after.
 */
const ROOM_FACTOR = 2;

export class DiskReserve {
  readonly #options: ReserveOptions;
  /** `unknown`: there is no file, and the free space has not been checked yet. */
  #state: 'unknown' | 'held' | 'missing' = 'unknown';

  #making: Promise<void> | undefined;

  constructor(options: ReserveOptions) {
    this.#options = options;
    const { disk, path, sizeBytes } = options;
    if (sizeBytes > 0 && sizeOf(disk, path) === sizeBytes) this.#state = 'held';
  }

  /** Whether the reserve has been used up: only what frees space may be written. */
  get isMissing(): boolean {
    return this.#state === 'missing';
  }

  /**
   * Rejects with `Unavailable` while only what frees space may be written. Returns `undefined`, not
   * a promise, while everything may be.
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
   * Runs an action that frees space, or is part of freeing it. When it fails because the disk is
   * full, the reserve is removed and the action runs again.
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
   * Creates the reserve if it is missing and there is space. Calls `pause` after each piece.
   * Failures are logged.
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
    // Random bytes: some file systems take no space for zeros.
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
