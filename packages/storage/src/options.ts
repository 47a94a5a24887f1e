// Options that the program which embeds the engine chooses when it opens it.
import type { IngestSettings, StorageLog } from '@tidemark/storage-api';

export type StorageOptions = {
  /** The data directory. Created when it does not exist; owned by one process at a time. */
  readonly directory: string;
  /**
   * `interval` acknowledges before the disk has the data: up to `walSyncIntervalMs` of writes may
   * be lost.
   */
  readonly walFsync?: 'always' | 'interval' | undefined;
  readonly walSyncIntervalMs?: number | undefined;
  readonly walMaxBytes?: number | undefined;
  readonly memtableMaxBytes?: number | undefined;
  /** Disk space kept back for deletes and drops on a full disk; 0, the default, keeps none. */
  readonly reserveBytes?: number | undefined;
  /** Memtables are flushed when no write came for this long; 0 waits until they are old. */
  readonly quietFlushAfterMs?: number | undefined;
  readonly writeQueueMaxBytes?: number | undefined;
  /** Those that differ from `INGEST_DEFAULTS`. */
  readonly ingest?: Partial<IngestSettings> | undefined;
  /** Size of the caches of decoded columns of all threads. */
  readonly columnCacheBytes?: number | undefined;
  /** Threads that read large aggregates (`docs/adr/0034-readers.md`): 0, the default, or 1. */
  readonly queryThreads?: number | undefined;
  /** Aggregates of fewer rows are not left to them; tests pass fewer than the default. */
  readonly readerRowsMin?: number | undefined;
  /** Size of the cache of postings, for all databases together. */
  readonly indexCacheBytes?: number | undefined;
  /**
   * An index is rebuilt without its deleted series when there are this many; tests pass fewer than
   * the default.
   */
  readonly deletedSeriesMin?: number | undefined;
  /** A checkpoint of an index waits for more new series than this; tests pass fewer. */
  readonly checkpointSeriesMin?: number | undefined;
  readonly snapshotMaxAgeMs?: number | undefined;
  /** Reads leave out what is damaged, with a warning, instead of failing. */
  readonly servesDamaged?: boolean | undefined;
  /** `false`: flush and compaction run only when asked, for tests and offline tools. */
  readonly hasBackgroundWork?: boolean | undefined;
  /** For tests: an assertion fails in the storage thread when it reaches this step. */
  readonly failsAt?: string | undefined;
  readonly log?: StorageLog | undefined;
  /**
   * The storage thread failed twice within a minute and stays down: the process should end with
   * this reason.
   */
  readonly onFatal?: ((reason: Error) => void) | undefined;
  /**
   * The storage thread failed and is opened again from its log (`false`), and it is open again
   * (`true`).
   */
  readonly onAvailability?: ((isAvailable: boolean) => void) | undefined;
};
