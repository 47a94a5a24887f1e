// What an embedding program chooses.
export type LogLevel = 'info' | 'warn' | 'error';

export type StorageLog = (
  level: LogLevel,
  message: string,
  details?: Readonly<Record<string, unknown>>,
) => void;

export type StorageOptions = {
  /** Made when it does not exist; owned by one process at a time. */
  readonly directory: string;
  /**
   * `interval` acknowledges before the disk has the data: up to `walSyncIntervalMs` of writes may
   * be lost.
   */
  readonly walFsync?: 'always' | 'interval' | undefined;
  readonly walSyncIntervalMs?: number | undefined;
  readonly walMaxBytes?: number | undefined;
  readonly memtableMaxBytes?: number | undefined;
  /** Kept free on the disk for deletes and drops; 0, the default, keeps nothing. */
  readonly reserveBytes?: number | undefined;
  /** Rows in memory are flushed when none came for this long; 0 waits until they are old. */
  readonly quietFlushAfterMs?: number | undefined;
  readonly writeQueueMaxBytes?: number | undefined;
  /** Points of one write in further shards are refused; 0 is no limit. */
  readonly maxShardsPerWrite?: number | undefined;
  /** What follows so many lines that can not be parsed is not read; 0 is no limit. */
  readonly maxBadLines?: number | undefined;
  /** What requests of all queries may hold together; 0 is no limit. */
  readonly requestMemoryBytes?: number | undefined;
  /** Decoded columns kept in memory. */
  readonly columnCacheBytes?: number | undefined;
  /** Postings of tags kept in memory, of all databases together. */
  readonly indexCacheBytes?: number | undefined;
  /**
   * An index is made anew without deleted series when there are so many; tests pass fewer than the
   * default.
   */
  readonly deadSeriesMin?: number | undefined;
  readonly snapshotMaxAgeMs?: number | undefined;
  /** Accept `1u` in line protocol. */
  readonly allowUnsigned?: boolean | undefined;
  /** `measurement`: a field has one type in all shards of a measurement; default per shard. */
  readonly fieldTypes?: 'shard' | 'measurement' | undefined;
  /** Reads leave out what is damaged, and say so, instead of failing. */
  readonly servesDamaged?: boolean | undefined;
  /** `false`: flush and compaction run only when asked, for tests and offline tools. */
  readonly hasBackgroundWork?: boolean | undefined;
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
