// Receives a backup of the metadata over the API: its bytes arrive in pieces, the file is verified
// beside the one in use, and replaces it while the engine is closed.
import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import { Conflict, LimitExceeded, NotFound } from '@tidemark/core';
import { PRIVATE_FILE } from '@tidemark/process';
import { RESTORED_BYTES } from '../limits.ts';
import { METADATA_FILE } from './metadata-file.ts';
import type { KeyLocation } from './store-cipher.ts';
import { inspectStore, removeLock } from './store-repair.ts';

const UPLOAD_FILE = `${METADATA_FILE}.restoring`;
const REPLACED_FILE = `${METADATA_FILE}.replaced`;

/** The number of entries per table of the backup. */
export type Entries = Readonly<Record<string, number>>;

type Upload = { readonly id: string; readonly file: FileHandle; sizeBytes: number };

/** One upload at a time; a new one ends the previous one. */
export class RestoreUpload {
  readonly #location: KeyLocation;
  #upload: Upload | undefined;

  constructor(location: KeyLocation) {
    this.#location = location;
    // Left by a process that ended during an upload.
    rmSync(this.#path, { force: true });
  }

  get #path(): string {
    return join(this.#location.directory, UPLOAD_FILE);
  }

  /** Begins an upload; the result identifies it in later calls. */
  async open(): Promise<string> {
    await this.close();
    const file = await open(this.#path, 'wx', PRIVATE_FILE);
    this.#upload = { id: randomUUID(), file, sizeBytes: 0 };
    return this.#upload.id;
  }

  async write(id: string, piece: Uint8Array): Promise<void> {
    const upload = this.#find(id);
    if (upload.sizeBytes + piece.length > RESTORED_BYTES.value) {
      throw new LimitExceeded(`a backup of the engine has at most ${RESTORED_BYTES.value} bytes`);
    }
    upload.sizeBytes += piece.length;
    await upload.file.writeFile(piece);
  }

  /**
   * All bytes have arrived: returns the contents. Throws `InvalidRequest` when the file cannot be
   * used, and nothing has changed then. `swapRestored` is next.
   */
  async finish(id: string): Promise<Entries> {
    const upload = this.#find(id);
    this.#upload = undefined;
    try {
      await upload.file.sync();
      await upload.file.close();
      return await inspectStore(this.#path, this.#location);
    } catch (error) {
      rmSync(this.#path, { force: true });
      throw error;
    }
  }

  async abandon(id: string): Promise<void> {
    this.#find(id);
    await this.close();
  }

  async close(): Promise<void> {
    const upload = this.#upload;
    if (upload === undefined) return;
    this.#upload = undefined;
    await upload.file.close();
    rmSync(this.#path, { force: true });
  }

  #find(id: string): Upload {
    if (this.#upload?.id === id) return this.#upload;
    throw new NotFound('no such restore; it may have failed or ended');
  }
}

/**
 * Replaces the file, which must not be open, by the uploaded one; the previous file stays beside it
 * until the next time. There is a file at every moment. Throws `Conflict` when nothing was
 * uploaded.
 */
export function swapRestored(directory: string): void {
  const [file, restored, replaced] = paths(directory);
  if (!existsSync(restored)) throw new Conflict('no backup was uploaded');
  rmSync(replaced, { force: true });
  linkSync(file, replaced);
  renameSync(restored, file);
  removeLock(file);
}

/** Undoes `swapRestored`. */
export function undoRestored(directory: string): void {
  const [file, , replaced] = paths(directory);
  renameSync(replaced, file);
  removeLock(file);
}

function paths(directory: string): readonly [file: string, restored: string, replaced: string] {
  return [
    join(directory, METADATA_FILE),
    join(directory, UPLOAD_FILE),
    join(directory, REPLACED_FILE),
  ];
}
