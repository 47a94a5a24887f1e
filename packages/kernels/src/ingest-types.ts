// The interface of the ingest kernel: request bytes -> rows in linear memory -> blocks of a log
// record and columns.
//
// One `Ingest` serves one database and appends to its series table (`SeriesKeys`). Rows are
// appended to tables while they are parsed, one table per shard and measurement, in arrival order.
// A `Batch` describes them until the next call; the caller encodes and copies what it wants by
// then. Nothing here is durable or visible by itself.
//
// Memory: everything lives in one linear memory that never shrinks. Arrays handed out are copies
// that belong to the caller.
import type { FieldType, FieldValue, Timestamp, UnsignedValue } from '@tidemark/core';

import type { StagedTable } from './staged-table.ts';

/** The part of time that one shard covers, half-open: [start, end). */
export type IngestShard = {
  /** Unique within the database, below 2^31. */
  readonly id: number;
  readonly start: Timestamp;
  readonly end: Timestamp;
};

/** What the kernel asks its caller while it appends. Called synchronously, and rarely. */
export interface IngestHost {
  /** Points before this time are refused as beyond retention; `undefined` takes all. */
  readonly oldestAccepted?: Timestamp | undefined;
  /** Points after this time are refused likewise. */
  readonly newestAccepted?: Timestamp | undefined;
  /**
   * The shard that takes points of `time`, created when need be; `undefined` refuses the point as
   * beyond retention, a text for that reason. Asked once per shard and batch. Bounds may lie
   * outside of int64.
   */
  shardFor(time: Timestamp): IngestShard | string | undefined;
  /**
   * Types that fields of `measurement` already have in this shard. Asked when its table is made,
   * and again after `forgetTypes`; fields that are not named are new, their first value decides.
   */
  fieldTypes(
    shardId: number,
    measurement: string,
  ): Iterable<readonly [field: string, type: FieldType]>;
  /**
   * Asked before a series is created when present. A text refuses the point and is the reason; a
   * number lets the series in, and so many others of the batch that are not asked for any more.
   * `key` is valid during the call only.
   */
  admitSeries?: ((key: Uint8Array) => string | number) | undefined;
}

export type IngestPrecision = 'ns' | 'u' | 'ms' | 's' | 'm' | 'h';

/** How to read one body. */
export type ParseOptions = {
  readonly precision: IngestPrecision;
  /** Time of points without a timestamp; truncated to `precision` here. */
  readonly now: Timestamp;
  /** Collect `rejectedLines`. */
  readonly isDetailed?: boolean | undefined;
  /** The batch ends with so many lines that can not be parsed. */
  readonly parseErrorsMax?: number | undefined;
  /** Continue a body whose previous batch ended with `consumedBytes` < length. */
  readonly from?: number | undefined;
};

/**
 * A point from inside the process. Tags in any order, names and values unescaped, no empty tag
 * values.
 */
export type IngestPoint = {
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
  readonly fields: readonly (readonly [string, FieldValue | UnsignedValue])[];
  readonly time: Timestamp;
};

/** A field that got its type in this batch. */
export type NewField = {
  readonly shardId: number;
  readonly measurement: string;
  readonly field: string;
  readonly type: FieldType;
};

export type IngestRejectedLine = {
  /** One-based. */
  readonly lineNumber: number;
  readonly text: string;
  readonly reason: string;
};

/** What one `parseLines` or `appendPoints` appended, and what it refused. */
export type Batch = {
  readonly tables: readonly StagedTable[];
  /**
   * Ids of series that this batch created: [firstSeriesId, firstSeriesId + newSeriesCount). Keys:
   * `SeriesKeys`.
   */
  readonly firstSeriesId: number;
  readonly newSeriesCount: number;
  readonly newFields: readonly NewField[];
  readonly pointsWritten: number;
  readonly valuesWritten: number;
  /** `unable to parse '<line>': <reason>` in line order; the first `limits.parseErrors` of them. */
  readonly parseErrors: readonly string[];
  readonly parseErrorCount: number;
  /** Points that were parsed and refused; `reason` as reference/line-protocol.md §7 chooses it. */
  readonly dropped: { readonly count: number; readonly reason: string } | undefined;
  readonly rejectedLines: readonly IngestRejectedLine[];
  /**
   * Bytes of the body that are dealt with. Less than its length when the batch is as large as one
   * may be: take it, then call again with `from`.
   */
  readonly consumedBytes: number;
};

/**
 * The ingest kernel of one database. Not re-entrant; calls are synchronous, and every call ends the
 * batch before it.
 */
export interface Ingest {
  /**
   * Parses line protocol and appends it. The body is only read. Bad lines and refused points do not
   * stop it.
   */
  parseLines(body: Uint8Array, options: ParseOptions, host: IngestHost): Batch;
  /** Appends points that exist as values. All of them, whatever the memory limit. */
  appendPoints(points: readonly IngestPoint[], host: IngestHost): Batch;
  /** Field types that were asked for may have changed; the next batch asks again. */
  forgetTypes(): void;
  /** Bytes held for rows of batches. */
  readonly batchBytes: number;
}
