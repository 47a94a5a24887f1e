// Backups and restores of a running service: a limited number at a time, each ended when its client
// stops continuing it.
import { randomUUID } from 'node:crypto';

import { Cancelled, Conflict, NotFound, Pipe } from '@tidemark/core';
import type { Clock, TimeRange } from '@tidemark/core';
import { withAttachments } from '@tidemark/storage';
import type { PreviousBackup } from '@tidemark/storage-api';

import { requireDatabase } from '../catalog/databases.ts';
import { LIMITS } from '../limits.ts';
import { documentAttachments } from './documents.ts';
import { encodeMetadata } from './metadata.ts';
import { maintenanceOf, restoreBackup } from './restore.ts';
import type { RestoreOptions, RestoreOutcome, RestoreTarget } from './restore.ts';

export type BackupOptions = {
  readonly databases?: readonly string[] | undefined;
  readonly timeRange?: TimeRange | undefined;
  readonly since?: PreviousBackup | undefined;
};

/** A restore whose bytes arrive in pieces, one request each. */
type Upload = {
  readonly id: string;
  readonly pipe: Pipe<Uint8Array>;
  readonly done: Promise<RestoreOutcome>;
  lastMs: number;
};

export class BackupService {
  readonly #target: RestoreTarget & { readonly clock: Clock };
  readonly #stopped = new AbortController();
  #activeBackups = 0;
  #upload: Upload | undefined;

  constructor(target: RestoreTarget & { readonly clock: Clock }) {
    this.#target = target;
  }

  /**
   * The bytes of a backup, made as they are read. Users, tokens and documents are in a backup of
   * everything only.
   */
  async *create(options: BackupOptions): AsyncGenerator<Uint8Array> {
    const { catalog, documents, storage } = this.#target;
    const { databases, timeRange, since } = options;
    for (const name of databases ?? []) requireDatabase(catalog.state, name);
    if (this.#activeBackups >= LIMITS.concurrentBackups.value) {
      throw new Conflict('too many backups run already; wait for one to end');
    }
    this.#activeBackups++;
    try {
      // Before the points: their policies existed before they were acknowledged.
      const metadata = encodeMetadata(catalog.state, databases);
      const portions = maintenanceOf(storage).backup({ databases, timeRange, since, metadata });
      const attachments = databases === undefined ? documentAttachments(documents.files) : [];
      yield* withAttachments(portions, attachments);
    } finally {
      this.#activeBackups--;
    }
  }

  /** Begins a restore; the result identifies it in later calls. One at a time. */
  openRestore(options: RestoreOptions): string {
    const { clock } = this.#target;
    if (this.#upload !== undefined) throw new Conflict('another restore is running');
    const pipe = new Pipe<Uint8Array>();
    const done = restoreBackup(this.#target, options, pipe);
    // The next write or finish gets the error.
    done.catch((error: Error) => pipe.breakOff(error));
    this.#upload = { id: randomUUID(), pipe, done, lastMs: clock.monotonicMs() };
    void this.#watch(this.#upload); // Never rejects.
    return this.#upload.id;
  }

  /**
   * Resolves when the piece is taken. Rejects with the reason when the restore has failed; it is
   * over then.
   */
  async writeRestore(id: string, piece: Uint8Array): Promise<void> {
    const upload = this.#find(id);
    try {
      await upload.pipe.write(piece);
      upload.lastMs = this.#target.clock.monotonicMs();
    } catch (error) {
      this.#forget(upload);
      // The pipe only knows that its reader is gone; the restore has the reason.
      await upload.done;
      throw error;
    }
  }

  /** All pieces have arrived: resolves when everything is durable and visible. */
  async finishRestore(id: string): Promise<RestoreOutcome> {
    const upload = this.#find(id);
    // From here on no further requests of the client are needed.
    upload.lastMs = Number.POSITIVE_INFINITY;
    upload.pipe.end();
    try {
      return await upload.done;
    } finally {
      this.#forget(upload);
    }
  }

  /** Ends a restore; none of its data stays. */
  async abandonRestore(id: string): Promise<void> {
    await this.#abandon(this.#find(id), 'restore was abandoned');
  }

  async close(): Promise<void> {
    this.#stopped.abort(new Cancelled('the service stops'));
    if (this.#upload !== undefined) await this.#abandon(this.#upload, 'the service stops');
  }

  /** Ends an upload whose client has stopped sending. */
  async #watch(upload: Upload): Promise<void> {
    const { clock } = this.#target;
    const idleMs = LIMITS.restoreIdleMs.value;
    const { signal } = this.#stopped;
    while (this.#upload === upload && !signal.aborted) {
      // Only the stop of the service ends this pause.
      await clock.sleep(idleMs, signal).catch(() => undefined);
      if (clock.monotonicMs() - upload.lastMs < idleMs) continue;
      await this.#abandon(upload, 'no data received for too long');
    }
  }

  async #abandon(upload: Upload, reason: string): Promise<void> {
    this.#forget(upload);
    upload.pipe.breakOff(new Cancelled(reason));
    // The failure is intended.
    await upload.done.catch(() => undefined);
  }

  #find(id: string): Upload {
    if (this.#upload?.id !== id) throw new NotFound('no such restore; it may have failed or ended');
    return this.#upload;
  }

  #forget(upload: Upload): void {
    if (this.#upload === upload) this.#upload = undefined;
  }
}
