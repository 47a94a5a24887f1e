// Maintenance of files: what only storage with its own data directory does.
import type { TimeRange } from '@tidemark/core';

import type { PointStorage } from './point-storage.ts';

/** A file that cannot be read from `offset` on, or whose contents are lost. */
export type Damage = { readonly file: string; readonly offset: number; readonly message: string };

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

export interface StorageMaintenance {
  /**
   * The damage found when the directory was opened; reads that need it fail. Empty when the
   * directory is sound.
   */
  damage(): Promise<readonly Damage[]>;
  /** Writes everything in memory to segments. Not needed for durability. */
  flush(): Promise<void>;
  /**
   * Merges segments until nothing needs to be done, also in shards that are still written to. Runs
   * by itself too; here for tools and tests.
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
}

/** The embedded engine. */
export type StorageEngine = PointStorage & StorageMaintenance;
