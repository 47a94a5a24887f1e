// Storage of points: what every kind of storage does.
import type { TimeRange, Timestamp } from '@tidemark/core';
import type { Predicate, SeriesSource } from '@tidemark/query';

import type { WriteLinesRequest, WriteOutcome, WritePointsRequest } from './writes.ts';

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

/**
 * Methods may be called while others are running. A call that begins after a write has resolved
 * sees that write.
 */
export interface PointStorage {
  readonly source: SeriesSource;
  /**
   * A buffer for a body that is later passed to `writeLines`. Buffers are reused, so its contents
   * are unspecified.
   */
  bodyBuffer(sizeBytes: number): Uint8Array;
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
  /** `false` when there is no such shard. */
  dropShard(shardId: number): Promise<boolean>;
  shards(): Promise<readonly ShardInfo[]>;
  statistics(): Promise<StorageStatistics>;
  /** Finishes running work and releases what is held. Idempotent. */
  close(): Promise<void>;
}
