// The embedded storage engine as the database service sees it. Implemented by a proxy to the
// storage thread.
import type { FieldValue, TimeRange, Timestamp, UnsignedValue } from '@tidemark/core';
import type { Predicate, SeriesSource } from '@tidemark/query';

import type { Damage } from './damage.ts';

/**
 * A retention policy as storage knows it. `id` is assigned by the catalog, unique for ever: a
 * database that is dropped and created again gets other ids, so that leftovers of the old one are
 * never seen.
 */
export type PolicyRef = {
  readonly id: number;
  readonly database: string;
  readonly retentionPolicy: string;
  /** Length of new shard groups. Existing groups keep their bounds. */
  readonly shardDurationNanos: bigint;
  /**
   * Points before this time are rejected as `retention` (now - duration); `undefined` keeps
   * everything.
   */
  readonly oldestAccepted?: Timestamp | undefined;
  /** Points after this time are rejected likewise (now + future limit); `undefined` takes any. */
  readonly newestAccepted?: Timestamp | undefined;
  /** 0 = unlimited. */
  readonly maxSeriesPerDatabase: number;
  readonly maxValuesPerTag: number;
};

export type Precision = 'ns' | 'u' | 'ms' | 's' | 'm' | 'h';

/** Line protocol as it came from the client. */
export type WriteLinesRequest = {
  readonly policy: PolicyRef;
  /** Ownership passes to storage: the buffer is transferred to its thread. */
  readonly body: Uint8Array;
  readonly precision: Precision;
  /** Time of points that carry none (truncated to `precision` by storage). */
  readonly now: Timestamp;
  /** Ask for `rejectedLines` in the outcome. */
  readonly isDetailed?: boolean | undefined;
};

/** Points from inside the process: INTO, continuous queries, monitor, other listeners. */
export type WritePointsRequest = {
  readonly policy: PolicyRef;
  readonly points: readonly NewPoint[];
};

export type NewPoint = {
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
  readonly fields: readonly (readonly [string, FieldValue | UnsignedValue])[];
  readonly time: Timestamp;
};

/**
 * What became of a write. Resolved when the accepted points are durable (`wal.fsync`) and visible.
 */
export type WriteOutcome = {
  readonly pointsWritten: number;
  readonly valuesWritten: number;
  /**
   * Messages of lines that could not be parsed, in line order: `unable to parse '<line>':
   * <reason>`.
   */
  readonly parseErrors: readonly string[];
  /**
   * Points that were parsed and refused; `reason` is that of the first one
   * (reference/line-protocol.md §7).
   */
  readonly dropped: { readonly count: number; readonly reason: string } | undefined;
  readonly rejectedLines?: readonly RejectedLine[] | undefined;
  /** Refused lines beyond those that `rejectedLines` holds; absent when it holds all. */
  readonly unlistedCount?: number | undefined;
};

export type RejectedLine = {
  /** One-based. */
  readonly lineNumber: number;
  readonly text: string;
  readonly reason: string;
};

/** Which series and times a delete covers. Only tag leaves in `where`. */
export type DeleteRequest = {
  readonly database: string;
  /** `undefined`: every retention policy. */
  readonly retentionPolicy?: string | undefined;
  readonly measurements?: readonly string[] | undefined;
  readonly measurementPattern?: string | undefined;
  readonly where?: Predicate | undefined;
  readonly timeRange?: TimeRange | undefined;
};

/** A shard: what one retention policy holds for one range of time. */
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

/** What to back up. */
export type BackupRequest = {
  /** `undefined`: all. */
  readonly databases?: readonly string[] | undefined;
  /** Whole shards that overlap the range. */
  readonly timeRange?: TimeRange | undefined;
  /**
   * The previous backup, as its contents describe it: only what neither it nor its predecessors
   * hold is copied.
   */
  readonly since?: PreviousBackup | undefined;
  /** Travels in the backup, as the service needs it to restore. */
  readonly metadata?: string | undefined;
};

export type PreviousBackup = {
  /** Of the directory that was backed up. */
  readonly storageId: string;
  /** Names of all its segments. */
  readonly segments: readonly string[];
};

/** A backup that was stored. */
export type BackupSummary = {
  /** Those with points, sorted. */
  readonly databases: readonly string[];
  readonly sizeBytes: number;
  readonly segments: number;
  readonly segmentsOfEarlierBackups: number;
};

/** What to take out of a backup. Whatever is not named is left out. */
export type RestoreRequest = {
  /** Name in the backup to name here. */
  readonly databases: ReadonlyMap<string, string>;
  /** Id of a retention policy in the backup to its id here, which no shard has. */
  readonly policies: ReadonlyMap<number, number>;
};

export type RestoreReport = {
  /** As they are named here. */
  readonly databases: readonly string[];
  readonly shards: number;
  readonly segments: number;
  /** Bytes of segments. */
  readonly bytes: number;
};

/**
 * The engine. All methods may be called at once; order between a resolved write and a later call is
 * guaranteed.
 */
/** A server that has points. */
export type ReplicaState = {
  /** Servers of one shard have the same points. `undefined` while it has not said which it is. */
  readonly shard: number | undefined;
  readonly url: string;
  readonly isUp: boolean;
  /** Why it is not. */
  readonly reason?: string | undefined;
};

export interface StorageEngine {
  readonly source: SeriesSource;
  /** Where the engine has a thread of its own. */
  readonly thread?: StorageThread | undefined;
  writeLines(request: WriteLinesRequest): Promise<WriteOutcome>;
  writePoints(request: WritePointsRequest): Promise<WriteOutcome>;
  /** Resolves when the delete is durable. Series without points vanish from the schema. */
  delete(request: DeleteRequest): Promise<void>;
  dropMeasurement(database: string, measurement: string): Promise<void>;
  dropPolicy(policyId: number): Promise<void>;
  /** Other servers that have the points, and which of them answer; none where they are here. */
  replicas(): Promise<readonly ReplicaState[]>;
  /**
   * Drops everything of policies that are not in `policyIds`: run at start, with the catalog's
   * truth. Those from `nextId` on are of other services that share the storage, and stay.
   */
  retainPolicies(policies: readonly PolicyRef[], nextId?: number): Promise<void>;
  /** `false` when there is no such shard. */
  dropShard(shardId: number): Promise<boolean>;
  shards(): Promise<readonly ShardInfo[]>;
  statistics(): Promise<StorageStatistics>;
  /**
   * What could not be read when the directory was opened; reads that need it fail. Empty is well.
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
   * portion was asked for, while everything else goes on. They are made as they are read; what is
   * pinned is released at the end or by `return`.
   */
  backup(request: BackupRequest): AsyncGenerator<Uint8Array>;
  /**
   * Adds databases of a full backup; they appear at once when all bytes are there and durable, or
   * not at all. Throws `Conflict` when one exists already, `Corruption` when the backup is damaged.
   */
  restore(request: RestoreRequest, bytes: AsyncIterable<Uint8Array>): Promise<RestoreReport>;
  /** Finishes running work, syncs, releases the directory. Idempotent. */
  close(): Promise<void>;
}

/** What saves time where the engine has a thread of its own; nobody needs it. */
export interface StorageThread {
  /**
   * Room for a body that is then given to `writeLines`: buffers are used again. Its contents are
   * unspecified.
   */
  bodyBuffer(sizeBytes: number): Uint8Array;
  /**
   * A second, empty engine in the same thread, which keeps everything in memory and forgets it when
   * it is closed: to run code until it is compiled. One at a time.
   */
  rehearsal(): Promise<StorageEngine>;
}
