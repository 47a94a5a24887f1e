// Requests to write points, and their outcomes.
import type { FieldValue, Precision, Timestamp, UnsignedValue } from '@tidemark/core';

/**
 * A retention policy for storage. `id` is assigned by the catalog and never reused: a database that
 * is dropped and created again gets other ids, so that leftovers of the old one are never seen.
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

/** Line protocol as received from the client. */
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
 * Result of a write. Resolved when the accepted points are durable (`wal.fsync`) and visible.
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
   * Points that were parsed and refused; `reason` is the one that comes first in InfluxDB's order
   * of kinds.
   */
  readonly dropped: { readonly count: number; readonly reason: string } | undefined;
  readonly rejectedLines?: readonly RejectedLine[] | undefined;
  /** Number of refused lines that `rejectedLines` lacks; absent when it has all. */
  readonly unlistedCount?: number | undefined;
};

export type RejectedLine = {
  /** One-based. */
  readonly lineNumber: number;
  readonly text: string;
  readonly reason: string;
};
