// The files of series indexes: their logs, to which a flush appends, and their checkpoints, which
// are written in the background, since one of ten million series takes seconds.
import type { StorageLog } from '@tidemark/storage-api';

import { copyAside } from '../disk/keep-aside.ts';
import type { Disk } from '../disk/disk.ts';
import { checkpointFileName, checkpointPath } from './checkpoint.ts';
import { IndexLog, indexFileName } from './index-log.ts';
import { Pacer } from '../schedule/pacer.ts';
import { indexDirectory } from '../disk/paths.ts';
import type { StoredIndex } from './stored-index.ts';
import type { Turns, Work } from '../schedule/turns.ts';

export class IndexFiles {
  readonly #disk: Disk;
  readonly #engineDirectory: string;
  readonly #directory: string;
  readonly #turns: Turns;
  readonly #log: StorageLog;
  /** Numbers of the indexes whose checkpoints are being written. */
  readonly #writing = new Set<number>();
  /** Indexes whose logs are being appended to. */
  readonly #appending = new Set<number>();
  /** Indexes that were removed meanwhile. */
  readonly #givenUp = new Set<number>();

  /** `directory` is the engine's. */
  constructor(options: {
    readonly disk: Disk;
    readonly directory: string;
    readonly turns: Turns;
    readonly log: StorageLog;
  }) {
    this.#disk = options.disk;
    this.#engineDirectory = options.directory;
    this.#directory = indexDirectory(options.directory);
    this.#turns = options.turns;
    this.#log = options.log;
  }

  /** Makes entries durable that so far are only in log files. */
  async persist(stored: StoredIndex, work: Work): Promise<void> {
    const unpersisted = stored.unpersisted();
    if (unpersisted === undefined) return;
    const { fileId } = stored;
    const log = new IndexLog(this.#disk, this.#directory, fileId);
    const pacer = new Pacer(this.#turns, { work });
    this.#appending.add(fileId);
    try {
      const end = await log.append(unpersisted.portions, {
        end: stored.persistedEnd,
        pause: () => pacer.pause(),
        keep: (path) => copyAside({ disk: this.#disk, directory: this.#engineDirectory }, path),
      });
      stored.persisted({ ...unpersisted.end, ...end });
    } finally {
      this.#appending.delete(fileId);
      if (this.#givenUp.delete(fileId)) log.remove();
    }
  }

  /**
   * Writes a checkpoint if the index has grown enough. A failure is only logged: the next start
   * takes longer.
   */
  async checkpoint(
    stored: StoredIndex,
    options: {
      readonly isClosing: boolean;
      readonly signal: AbortSignal;
      readonly syncLog: () => Promise<void>;
    },
  ): Promise<void> {
    const { syncLog } = options;
    const { fileId } = stored;
    if (!stored.needsCheckpoint(options) || this.#writing.has(fileId)) return;
    const directory = this.#directory;
    const path = checkpointPath(directory, fileId);
    const pacer = new Pacer(this.#turns, { signal: options.signal });
    this.#writing.add(fileId);
    try {
      const pause = (): Promise<void> => pacer.pause();
      await stored.writeCheckpoint({ disk: this.#disk, directory, path, pause, syncLog });
    } catch (error) {
      if (options.signal.aborted) return;
      this.#log('warn', 'series index checkpoint could not be written', { error, file: path });
    } finally {
      this.#writing.delete(fileId);
    }
  }

  /**
   * Removes the files of all indexes but these, by their ids. An index whose log is being appended
   * to is removed afterwards.
   */
  removeOthers(used: Iterable<number>): void {
    const names = new Set<string>();
    for (const fileId of used) {
      names.add(indexFileName(fileId)).add(checkpointFileName(fileId));
      if (this.#writing.has(fileId)) names.add(`${checkpointFileName(fileId)}.tmp`);
    }
    for (const fileId of this.#appending) {
      const name = indexFileName(fileId);
      if (!names.has(name)) this.#givenUp.add(fileId);
      names.add(name);
    }
    for (const name of this.#disk.list(this.#directory)) {
      if (!names.has(name)) this.#disk.remove(`${this.#directory}/${name}`);
    }
  }
}
