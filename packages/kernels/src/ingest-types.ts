// The interface of the ingest kernel. It turns the bytes of requests into rows in linear memory,
// and these into blocks of a log record and into columns.
//
// An `Ingest` serves one database and adds to its table of series (`SeriesKeys`). Rows are appended
// to one table per shard and measurement while they are parsed, in the order of arrival. A `Batch`
// describes them until the next call; before that, the caller encodes and copies what it needs.
// Nothing is durable or visible yet.
//
// Everything lies in one linear memory, which never shrinks. Arrays that are handed out are copies
// and belong to the caller.
import type { FieldType, FieldValue, Precision, Timestamp, UnsignedValue } from '@tidemark/core';

import type { StagedTable } from './staged-table.ts';

/** The time range of a shard: [start, end). */
export type IngestShard = {
  /** Unique in the database, below 2^31. */
  readonly id: number;
  readonly start: Timestamp;
  readonly end: Timestamp;
};

/** Questions of the kernel to its caller. They are rare, and the calls are synchronous. */
export interface IngestHost {
  /** Earlier points are refused as beyond retention. */
  readonly oldestAccepted?: Timestamp | undefined;
  /** Later points are refused as beyond retention. */
  readonly newestAccepted?: Timestamp | undefined;
  /**
   * The shard for points of `time`, created if there is none. `undefined` refuses the point as
   * beyond retention, a text refuses it with this reason. Called once per shard and batch. Bounds
   * may exceed int64.
   */
  shardFor(time: Timestamp): IngestShard | string | undefined;
  /**
   * Types of the measurement's fields in a shard. Called when a table is created, and again after
   * `forgetTypes`. Other fields are new, and get the type of their first value.
   */
  fieldTypes(
    shardId: number,
    measurement: string,
  ): Iterable<readonly [field: string, type: FieldType]>;
  /**
   * Called before a series is created. A text refuses the point with this reason. A number admits
   * the series and this many more in the batch, without calling again. `key` is valid during the
   * call.
   */
  admitSeries?: ((key: Uint8Array) => string | number) | undefined;
}

/** How to read a body. */
export type ParseOptions = {
  readonly precision: Precision;
  /** Time of points without a timestamp, truncated to `precision`. */
  readonly now: Timestamp;
  /** Collect `rejectedLines`. */
  readonly isDetailed?: boolean | undefined;
  /** The batch ends after this many lines that cannot be parsed. */
  readonly parseErrorsMax?: number | undefined;
  /** Offset from which to read, after a batch with `consumedBytes` below the length. */
  readonly from?: number | undefined;
};

/**
 * A point to write that does not come from a body. Names and values are not escaped, tags are in
 * any order, and no tag value is empty.
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
  /** Counted from 1. */
  readonly lineNumber: number;
  readonly text: string;
  readonly reason: string;
};

/** Points that `parseLines` or `appendPoints` appended and refused. */
export type Batch = {
  readonly tables: readonly StagedTable[];
  /**
   * Series that this batch created: [firstSeriesId, firstSeriesId + newSeriesCount). `SeriesKeys`
   * has their keys.
   */
  readonly firstSeriesId: number;
  readonly newSeriesCount: number;
  readonly newFields: readonly NewField[];
  readonly pointsWritten: number;
  readonly valuesWritten: number;
  /**
   * Texts of the form `unable to parse '<line>': <reason>` in the order of lines, the first
   * `limits.parseErrors` ones.
   */
  readonly parseErrors: readonly string[];
  readonly parseErrorCount: number;
  /**
   * Points that were parsed, but refused. `reason` is the one that comes first in InfluxDB's order
   * of kinds (`refusals.ts`).
   */
  readonly dropped: { readonly count: number; readonly reason: string } | undefined;
  readonly rejectedLines: readonly IngestRejectedLine[];
  /**
   * Bytes of the body that were read. Below the length of the body when the batch is full: then
   * call again with `from`.
   */
  readonly consumedBytes: number;
};

/**
 * The ingest kernel of one database. Calls are synchronous and not reentrant; each ends the
 * previous batch.
 */
export interface Ingest {
  /**
   * Parses line protocol and appends its points. Bad lines and refused points do not stop it. Does
   * not change the body.
   */
  parseLines(body: Uint8Array, options: ParseOptions, host: IngestHost): Batch;
  /** Appends all points, whatever the memory limit. */
  appendPoints(points: readonly IngestPoint[], host: IngestHost): Batch;
  /** Field types may have changed: they are requested again in the next batch. */
  forgetTypes(): void;
  /** Memory held for rows of batches. */
  readonly batchBytes: number;
}
