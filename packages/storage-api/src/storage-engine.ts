// Storage as the database service sees it.
import type { TimeRange, Timestamp } from '@tidemark/core';
import type { Predicate, SeriesSource } from '@tidemark/query';

import type { PolicyRef, WriteLinesRequest, WriteOutcome, WritePointsRequest } from './writes.ts';

/** The series and times that a delete covers. `where` may only have conditions on tags. */
export type DeleteRequest = {
  readonly database: string;
  /** `undefined`: every retention policy. */
  readonly retentionPolicy?: string | undefined;
  readonly measurements?: readonly string[] | undefined;
  readonly measurementPattern?: string | undefined;
  readonly where?: Predicate | undefined;
  readonly timeRange?: TimeRange | undefined;
};

/** A shard: the data of one retention policy in one range of time. */
export type ShardDescriptor = {
  readonly id: number;
  readonly policyId: number;
  readonly database: string;
  readonly retentionPolicy: string;
  /** Half-open: [start, end). */
  readonly start: Timestamp;
  readonly end: Timestamp;
};

export type ShardInfo = ShardDescriptor & {
  readonly shardGroupId: number;
  readonly diskBytes: number;
};

export type DatabaseStatistics = {
  readonly database: string;
  readonly seriesCount: number;
  readonly measurementCount: number;
};

/** Counters for `/metrics`, `SHOW STATS` and the monitor; names are the keys. */
export type StorageStatistics = {
  readonly counters: Readonly<Record<string, number>>;
  readonly databases: readonly DatabaseStatistics[];
};

/** The selection of a backup. */
export type BackupRequest = {
  /** `undefined`: all. */
  readonly databases?: readonly string[] | undefined;
  /** Backs up whole shards, those that overlap the range. */
  readonly timeRange?: TimeRange | undefined;
  /**
   * The previous backup, as its contents describe it: only what neither it nor its predecessors
   * hold is copied.
   */
  readonly since?: PreviousBackup | undefined;
  /** Stored in the backup unread; the service needs it to restore. */
  readonly metadata?: string | undefined;
};

export type PreviousBackup = {
  /** Id of the directory that was backed up. */
  readonly storageId: string;
  /** Names of all its segments. */
  readonly segments: readonly string[];
};

/** The contents of a stored backup. */
export type BackupSummary = {
  /** Databases with points, sorted. */
  readonly databases: readonly string[];
  readonly sizeBytes: number;
  readonly segments: number;
  readonly segmentsOfEarlierBackups: number;
};

/** The selection of a restore. Whatever is not named is left out. */
export type RestoreRequest = {
  /** From the name in the backup to the name here. */
  readonly databases: ReadonlyMap<string, string>;
  /** From a retention policy's id in the backup to its id here, which no shard uses yet. */
  readonly policies: ReadonlyMap<number, number>;
};

export type RestoreReport = {
  /** By their names here. */
  readonly databases: readonly string[];
  readonly shards: number;
  readonly segments: number;
  /** Bytes of segments that were restored. */
  readonly bytes: number;
};

/** A file that cannot be read from `offset` on, or whose contents are lost. */
export type Damage = { readonly file: string; readonly offset: number; readonly message: string };

/** A server of a cluster that holds points. */
export type ReplicaState = {
  /**
   * Servers of one shard hold the same points. `undefined` until the server has reported its shard.
   */
  readonly shard: number | undefined;
  readonly url: string;
  /** Whether it answers queries. */
  readonly isUp: boolean;
  readonly takesWrites: boolean;
  /** Why it does not answer, or takes no writes. */
  readonly reason?: string | undefined;
  /** Absent for a replica that is not available. */
  readonly load?: ReplicaLoad | undefined;
};

/** How much a replica holds, and what it still has to do. */
export type ReplicaLoad = {
  readonly diskBytes: number;
  /** Parts to fetch from other replicas, to merge, and to change. */
  readonly queueCount: number;
  /** How far it is behind the other replicas. */
  readonly delaySeconds: number;
};

/**
 * The engine. Methods may be called while others are running. A call that begins after a write has
 * resolved sees that write.
 */
export interface StorageEngine {
  readonly source: SeriesSource;
  /** Present where the engine runs in a thread of its own. */
  readonly thread?: StorageThread | undefined;
  /**
   * A buffer for a body that is later passed to `writeLines`. Buffers are reused, so its contents
   * are unspecified.
   */
  bodyBuffer?(sizeBytes: number): Uint8Array;
  writeLines(request: WriteLinesRequest): Promise<WriteOutcome>;
  writePoints(request: WritePointsRequest): Promise<WriteOutcome>;
  /** Resolves when the delete is durable. Series without points vanish from the schema. */
  delete(request: DeleteRequest): Promise<void>;
  dropMeasurement(database: string, measurement: string): Promise<void>;
  /**
   * Rejects with `Unavailable` when the log cannot be written. Then the drop is retried, at the
   * latest before anything is written to its database.
   */
  dropPolicy(policyId: number): Promise<void>;
  /** The servers that hold the points, and which of them answer; empty for an embedded engine. */
  replicas(): Promise<readonly ReplicaState[]>;
  /**
   * Drops the data of all policies that are not in `policies`. Called at start with those of the
   * catalog. Policies with an id from `nextId` on stay: another service that shares the storage has
   * created them.
   */
  retainPolicies(policies: readonly PolicyRef[], nextId?: number): Promise<void>;
  /** `false` when there is no such shard. */
  dropShard(shardId: number): Promise<boolean>;
  shards(): Promise<readonly ShardInfo[]>;
  statistics(): Promise<StorageStatistics>;
  /**
   * The damage found when the directory was opened; reads that need it fail. Empty when the
   * directory is sound.
   */
  damage(): Promise<readonly Damage[]>;
  /** Writes everything in memory to segments. Not needed for durability. */
  flush(): Promise<void>;
  /**
   * Merges segments until nothing needs to be done. Runs by itself too; here for tools and tests.
   */
  compact(): Promise<void>;
  /**
   * The bytes of a backup (docs/formats/backup.md) of what was acknowledged before the first
   * portion was requested. Reads and writes go on meanwhile. Portions are produced on request; the
   * files that the backup pins are released at its end or by `return`.
   */
  backup(request: BackupRequest): AsyncGenerator<Uint8Array>;
  /**
   * Adds databases of a full backup. They appear all together when everything is durable, or not at
   * all. Throws `Conflict` when one exists already, `Corruption` when the backup is damaged.
   */
  restore(request: RestoreRequest, bytes: AsyncIterable<Uint8Array>): Promise<RestoreReport>;
  /** Finishes running work, syncs, releases the directory. Idempotent. */
  close(): Promise<void>;
}

/** Optional services of an engine that runs in its own thread. They only save time. */
export interface StorageThread {
  /**
   * A second, empty engine in the same thread, which keeps everything in memory and discards it
   * when it is closed. It is for warming up: code runs on it until it is compiled. One at a time.
   */
  rehearsal(): Promise<StorageEngine>;
}
