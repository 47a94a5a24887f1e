// The write-ahead log with group commit: records queue up; one group at a time is written and
// synced; then its records are applied in order. A mark after them says how much was synced. After
// a write or sync of a group has failed, the end of the file is unknown, so nothing more is written
// to it: the file is truncated to the last durable record where possible, and the group is written
// once to a new file. If that fails too, the group and everything queued after it (which may depend
// on it) is refused. With `interval`, records whose sync failed were already acknowledged. They are
// written once more, in place, and synced; until that succeeds, nothing is written after them.
import { assert, Unavailable } from '@tidemark/core';

import { diskReason } from '../disk/disk-errors.ts';
import type { Disk, DiskFile } from '../disk/disk.ts';
import { LogState } from './log-state.ts';
import type { ListedLogs } from './log-state.ts';
import { writeAgain } from '../disk/write-again.ts';
import { FRAME_FILE_HEADER_BYTES, frameFileHeader, MARKED_VERSION } from '../disk/frames.ts';
import { syncMark } from './sync-mark.ts';

export type WalOptions = {
  readonly disk: Disk;
  readonly directory: string;
  readonly firstFileId: number;
  /** Files that exist already, for `LogState`. */
  readonly listed?: ListedLogs | undefined;
  /**
   * `always`: a record counts as durable after fdatasync; `interval`: after write, synced by
   * `syncNow`.
   */
  readonly fsync: 'always' | 'interval';
  readonly log: (message: string, error?: unknown) => void;
};

type Entry = {
  readonly framed: Uint8Array;
  readonly databases: readonly string[];
  /** Runs in log order, before any later record is durable. */
  readonly onDurable: () => void;
  readonly onFailed: OnFailed;
};

type OnFailed = (error: Unavailable) => void;

export type WalCounters = { records: number; bytes: number; syncs: number; failures: number };

const NOTHING_LISTED: ListedLogs = { entries: [], isExpected: false, isHeld: false };

export class Wal {
  readonly counters: WalCounters = { records: 0, bytes: 0, syncs: 0, failures: 0 };
  readonly #options: WalOptions;
  #file: DiskFile | undefined;
  #fileId: number;
  /** Where the next record goes. */
  #position = 0;
  /** End of the last record; a mark may follow it. */
  #recordsEnd = 0;
  /** End of the last synced record. */
  #syncedEnd = 0;
  /** A sync has succeeded, and no mark says so yet. */
  #isMarkDue = false;
  readonly #state: LogState;
  /** Databases with records in the current file. */
  #databases = new Set<string>();
  #queue: Entry[] = [];
  #rotations: { readonly onRotated: (fileId: number) => void; readonly onFailed: OnFailed }[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;
  /** The sync of `interval` that is under way. The file stays open until it has ended. */
  #syncing: Promise<void> | undefined;
  /** Why the last sync of `interval` failed. */
  #syncError: unknown;

  constructor(options: WalOptions) {
    this.#options = options;
    this.#fileId = options.firstFileId;
    this.#state = new LogState(options.disk, options.directory, options.listed ?? NOTHING_LISTED);
  }

  get fileId(): number {
    return this.#fileId;
  }

  /** Size of the current file. */
  get fileBytes(): number {
    return this.#position;
  }

  get queuedRecords(): number {
    return this.#queue.length;
  }

  /**
   * Appends a record with its frame; `databases` are those that it belongs to. Resolves when it is
   * durable and `onDurable` has run; rejects with `Unavailable`.
   */
  append(framed: Uint8Array, databases: readonly string[], onDurable: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(new Unavailable('storage is closed'));
        return;
      }
      this.#queue.push({
        framed,
        databases,
        onDurable: () => {
          onDurable();
          resolve();
        },
        onFailed: reject,
      });
      this.#run();
    });
  }

  /**
   * Starts a new file. `onRotated` runs when all records of older files are applied and none of the
   * new file; the promise resolves after it. Rejects with `Unavailable` while the present file
   * cannot be synced.
   */
  rotate(onRotated: (fileId: number) => void): Promise<void> {
    assert(!this.#isClosed, 'flushes have ended when the log is closed');
    return new Promise((resolve, reject) => {
      this.#rotations.push({
        onRotated: (fileId) => {
          onRotated(fileId);
          resolve();
        },
        onFailed: reject,
      });
      this.#run();
    });
  }

  /**
   * Syncs what `interval` left unsynced until now. Records may be written meanwhile. Rejects with
   * `Unavailable` when that fails.
   */
  async syncNow(): Promise<void> {
    const end = this.#recordsEnd;
    const file = this.#file;
    while (this.#file === file && this.#syncedEnd < end) {
      await this.#syncOnce();
      if (this.#file === file && this.#isBroken) throw this.#unavailable(this.#syncError);
    }
  }

  /** A sync has failed: nothing is written after these records before one succeeds. */
  get #isBroken(): boolean {
    return this.#syncError !== undefined;
  }

  /** Joins the sync that is under way, or begins one. */
  #syncOnce(): Promise<void> {
    const file = this.#file;
    if (this.#syncing !== undefined) return this.#syncing;
    if (file === undefined || !this.#hasUnsynced) return Promise.resolve();
    this.#syncing = this.#sync(file, this.#recordsEnd).finally(() => {
      this.#syncing = undefined;
      if (this.#running === undefined) this.#writeMark();
    });
    return this.#syncing;
  }

  get #hasUnsynced(): boolean {
    return this.#recordsEnd > this.#syncedEnd;
  }

  async #sync(file: DiskFile, end: number): Promise<void> {
    this.counters.syncs++;
    try {
      // Includes the mark after the records, which the failed sync covered too.
      if (this.#isBroken) writeAgain(file, this.#syncedEnd, this.#position);
      await file.sync();
      this.#syncedEnd = end;
      this.#syncError = undefined;
      this.#isMarkDue = true;
    } catch (error) {
      this.#syncError = error;
      this.counters.failures++;
      this.#options.log('log could not be synced; acknowledged points are not safe yet', error);
    }
  }

  /**
   * Writes a mark that the records before it were synced. The mark is not synced itself: after a
   * power cut it may be missing, but where it exists, a damaged record before it was acknowledged.
   */
  #writeMark(): void {
    if (!this.#isMarkDue || this.#isBroken || this.#file === undefined) return;
    const mark = syncMark(this.#syncedEnd);
    try {
      this.#file.write(mark, this.#position);
    } catch (error) {
      // The disk is full. The next record overwrites the incomplete mark.
      this.#options.log('mark of the log could not be written', error);
      return;
    }
    this.#position += mark.length;
    this.#isMarkDue = false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#running !== undefined) await this.#running;
    await this.#syncAll();
    this.#seal();
    try {
      await this.#state.write();
    } catch (error) {
      // Without the list, the next start accepts the end of the last file as after a crash.
      this.#options.log('list of log files could not be written', error);
    }
  }

  /** Whether a start that finds no list of the files has lost it. */
  get hasList(): boolean {
    return this.#state.isExpected;
  }

  /** A manifest was written that needs no files below `id`. */
  release(id: number): void {
    this.#state.release(id);
  }

  #run(): void {
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined;
      if (this.#hasWork) this.#run();
      else this.#writeMark();
    });
  }

  get #hasWork(): boolean {
    return this.#queue.length > 0 || this.#rotations.length > 0;
  }

  async #drain(): Promise<void> {
    while (this.#hasWork) {
      if (this.#rotations.length > 0 || this.#isBroken) await this.#syncAll();
      if (this.#isBroken) {
        this.#refuse(this.#rotations, this.#syncError);
        this.#rotations = [];
        continue;
      }
      this.#startNewFiles();
      if (this.#queue.length === 0) continue;
      const group = this.#queue;
      this.#queue = [];
      const error = await this.#write(group);
      if (error === undefined) for (const entry of group) entry.onDurable();
      else this.#refuse(group, error);
    }
  }

  /** Nothing is written meanwhile. Fails by `#isBroken`. */
  async #syncAll(): Promise<void> {
    await this.#syncing;
    if (this.#hasUnsynced) await this.#syncOnce();
  }

  #startNewFiles(): void {
    if (this.#rotations.length === 0) return;
    this.#seal();
    const rotations = this.#rotations;
    this.#rotations = [];
    for (const { onRotated } of rotations) onRotated(this.#fileId);
  }

  #refuse(group: readonly { readonly onFailed: OnFailed }[], cause: unknown): void {
    const error = this.#unavailable(cause);
    const behind = this.#queue;
    this.#queue = [];
    for (const { onFailed } of [...group, ...behind]) onFailed(error);
  }

  #unavailable(cause: unknown): Unavailable {
    return new Unavailable(`log cannot be written: ${diskReason(cause)}`, { cause });
  }

  /**
   * Writes and syncs a group. Returns the error when that worked neither in the current file nor in
   * a new one.
   */
  async #write(group: readonly Entry[]): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#writeOnce(group);
        return undefined;
      } catch (error) {
        this.counters.failures++;
        this.#options.log('log could not be written; file is sealed', error);
        await this.#cutBack();
        if (attempt === 1 || this.#isBroken) return error;
      }
    }
  }

  async #writeOnce(group: readonly Entry[]): Promise<void> {
    const file = await this.#openFile();
    let end = this.#position;
    const isMarked = this.#isMarkDue;
    for (const bytes of joined(group, isMarked ? syncMark(this.#syncedEnd) : undefined)) {
      file.write(bytes, end);
      end += bytes.length;
    }
    // In `interval` a sync may end later, and it is marked then.
    if (isMarked) this.#isMarkDue = false;
    if (this.#options.fsync === 'always') {
      this.counters.syncs++;
      await file.sync();
      this.#syncedEnd = end;
      this.#isMarkDue = true;
    }
    this.#recordsEnd = end;
    for (const { databases } of group) for (const name of databases) this.#databases.add(name);
    this.counters.records += group.length;
    this.counters.bytes += end - this.#position;
    this.#position = end;
  }

  async #openFile(): Promise<DiskFile> {
    if (this.#file !== undefined) return this.#file;
    const { disk, directory } = this.#options;
    const path = walPath(directory, this.#fileId);
    // Left over from a failed attempt to begin this file, it holds nothing acknowledged.
    const isLeft = disk.exists(path);
    const file = disk.open(path, isLeft ? 'modify' : 'create');
    this.#file = file;
    this.#position = 0;
    if (isLeft) file.truncate(0);
    file.write(frameFileHeader(MARKED_VERSION), 0);
    await file.sync();
    // Its name becomes durable when the list is written: that syncs the directory.
    this.#state.set({ id: this.#fileId });
    await this.#state.write();
    this.#position = FRAME_FILE_HEADER_BYTES;
    this.#recordsEnd = FRAME_FILE_HEADER_BYTES;
    this.#syncedEnd = FRAME_FILE_HEADER_BYTES;
    return file;
  }

  /** Truncates the file to its last durable record if possible, and closes it. */
  async #cutBack(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    await this.#syncing;
    try {
      if (this.#position > 0) file.truncate(this.#position);
      else {
        // The next attempt begins it again. It stays, because the list on disk may name it.
        this.#file = undefined;
        file.close();
      }
    } catch (error) {
      // The tail stays: its records were not acknowledged, and replaying them adds rows a client
      // may send again.
      this.#options.log('log file could not be truncated', error);
    }
    await this.#syncAll();
    if (!this.#isBroken) this.#seal();
  }

  /** Closes the file and lists its length. */
  #seal(): void {
    const file = this.#file;
    if (file !== undefined) {
      // The list has the length only when it is written next.
      this.#writeMark();
      file.close();
      // A power cut may or may not take the records that could not be synced.
      const bytes = this.#hasUnsynced ? undefined : this.#syncedEnd;
      this.#state.set({ id: this.#fileId, bytes, databases: [...this.#databases] });
      this.#fileId++;
    }
    this.#file = undefined;
    this.#databases = new Set();
    this.#position = 0;
    this.#recordsEnd = 0;
    this.#syncedEnd = 0;
    this.#isMarkDue = false;
    this.#syncError = undefined;
  }
}

export function walPath(directory: string, fileId: number): string {
  return `${directory}/${String(fileId).padStart(8, '0')}.wal`;
}

/** Id of a log file by its name; `undefined` for other files. */
export function walFileId(name: string): number | undefined {
  const match = /^(\d{8,})\.wal$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** A call to write costs about as much as copying this many bytes. */
const COPIED_RECORD_BYTES = 16 << 10;

/**
 * The pieces to write, each with one call: small records are joined, larger ones are not copied.
 */
function joined(group: readonly Entry[], mark: Uint8Array | undefined): readonly Uint8Array[] {
  const writes: Uint8Array[] = [];
  let small: Uint8Array[] = mark === undefined ? [] : [mark];
  const join = (): void => {
    if (small.length > 0) writes.push(small.length === 1 ? small[0]! : Buffer.concat(small));
    small = [];
  };
  for (const { framed } of group) {
    if (framed.length < COPIED_RECORD_BYTES) small.push(framed);
    else {
      join();
      writes.push(framed);
    }
  }
  join();
  return writes;
}
