// The interface of the ingest kernel: request bytes -> rows in linear memory -> log record, and sorted columns back.
//
// One `Ingest` serves one database. It owns the series table (canonical key -> dense id) and one active memtable per
// shard. Rows are appended to the memtable while they are parsed; a `Batch` says which rows came from one request, so
// that exactly these can be encoded as a log record, or taken back. Nothing here is durable or visible by itself: the
// caller logs the record, then publishes the batch's row marks to its readers.
//
// Memory: everything lives in one linear memory that never shrinks. Memtables are freed into its pool; to give the
// memory back to the system, drop the `Ingest`. Arrays handed out are copies that belong to the caller.
import type { Column, FieldType, FieldValue, Timestamp } from '@tidemark/core';

/** The part of time that one shard covers, half-open: [start, end). */
export type IngestShard = {
  /** Unique within the database, below 2^31. */
  readonly id: number;
  readonly start: Timestamp;
  readonly end: Timestamp;
};

/** What the kernel asks its caller while it appends. Called synchronously; rarely, except `admitSeries`. */
export interface IngestHost {
  /** Points before this time are refused as beyond retention; `undefined` takes all. */
  readonly oldestAccepted?: Timestamp | undefined;
  /** Points after this time are refused likewise. */
  readonly newestAccepted?: Timestamp | undefined;
  /**
   * The shard that takes points of `time`, created when need be; `undefined` refuses the point as beyond retention.
   * Asked once per shard and batch. Bounds may lie outside of int64.
   */
  shardFor(time: Timestamp): IngestShard | undefined;
  /**
   * Types that fields of `measurement` already have in this shard (segments, frozen memtables). Asked once for every
   * memtable and measurement; fields that are not named are new, their first value decides.
   */
  fieldTypes(
    shardId: number,
    measurement: string,
  ): Iterable<readonly [field: string, type: FieldType]>;
  /**
   * Asked before a series is created when present; a text refuses the point and is the reason. `key` is valid during
   * the call only. Leave it out where no limit is set: it costs a call for each new series.
   */
  admitSeries?: ((key: Uint8Array) => string | undefined) | undefined;
}

export type IngestPrecision = 'ns' | 'u' | 'ms' | 's' | 'm' | 'h';

/** How to read one body. */
export type ParseOptions = {
  readonly precision: IngestPrecision;
  /** Time of points without a timestamp; truncated to `precision` here. */
  readonly now: Timestamp;
  /** Collect `rejectedLines`. */
  readonly isDetailed?: boolean | undefined;
  /** Continue a body whose previous batch ended with `consumedBytes` < length. */
  readonly from?: number | undefined;
};

/** A point from inside the process. Tags in any order, names and values unescaped, no empty tag values. */
export type IngestPoint = {
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
  readonly fields: readonly (readonly [string, FieldValue | { readonly unsigned: bigint }])[];
  readonly time: Timestamp;
};

/** Rows [fromRow, toRow) of one table of one memtable, in arrival order. */
export type BatchTable = {
  readonly shardId: number;
  readonly table: TableId;
  readonly measurement: string;
  readonly fromRow: number;
  readonly toRow: number;
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

/** What one `parseLines`, `appendPoints` or `replay` appended, and what it refused. */
export type Batch = {
  readonly tables: readonly BatchTable[];
  /** Ids of series that this batch created: [firstSeriesId, firstSeriesId + newSeriesCount). Keys: `seriesKey`. */
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
   * Bytes of the body that are dealt with. Less than its length when the memory limit was reached: log and publish
   * this batch, flush, then call again with `from`.
   */
  readonly consumedBytes: number;
};

/** Names one table (measurement) of one memtable, active or sealed. Never reused within an `Ingest`. */
export type TableId = number & { readonly __brand: 'TableId' };

/** One memtable: all tables of one shard since its predecessor was sealed. Never reused within an `Ingest`. */
export type MemtableId = number & { readonly __brand: 'MemtableId' };

export type TableInfo = {
  readonly table: TableId;
  readonly measurement: string;
  readonly rowCount: number;
  readonly minTime: Timestamp;
  readonly maxTime: Timestamp;
  readonly fields: readonly { readonly name: string; readonly type: FieldType }[];
};

/** What to read of one table. */
export type TableRead = {
  /** Rows from this one on are not looked at: the reader's snapshot. Default: all. */
  readonly rowLimit?: number | undefined;
  /** Strictly increasing ids; default: every series. */
  readonly series?: Uint32Array | undefined;
  /** In the order of the answer; default: all fields of the table. Unknown names give all-null columns. */
  readonly fields?: readonly string[] | undefined;
  /** Inclusive; default: all times. */
  readonly start?: Timestamp | undefined;
  readonly end?: Timestamp | undefined;
};

/**
 * Rows ordered by (series id, time), one row per series and time: fields of equal times are merged, the last write
 * of a field wins. Rows of `seriesIds[i]` are [rowStarts[i], rowStarts[i + 1]); `rowStarts` has one element more.
 */
export type SortedRows = {
  readonly seriesIds: Uint32Array;
  readonly rowStarts: Uint32Array;
  readonly times: BigInt64Array;
  /** A field that the table does not have is `undefined`. */
  readonly columns: readonly (Column | undefined)[];
};

/** The ingest kernel of one database. Not re-entrant; calls are synchronous. */
export interface Ingest {
  /** Parses line protocol and appends it. The body is only read. Bad lines and refused points do not stop it. */
  parseLines(body: Uint8Array, options: ParseOptions, host: IngestHost): Batch;
  /** Appends points that exist as values. All of them, whatever the memory limit. */
  appendPoints(points: readonly IngestPoint[], host: IngestHost): Batch;
  /** The log record of a batch (docs/formats/batch-record.md); includes the keys of its new series. */
  encodeBatch(batch: Batch): Uint8Array;
  /**
   * Appends what a log record holds, series under the ids that they had. Rows of shards for which `isWanted` says no
   * (dropped, or already in segments) are skipped. Series that are known already under the same id are left alone.
   * Throws `CodecError` for bytes that are no record; nothing of them stays then.
   */
  replay(
    record: Uint8Array,
    host: Pick<IngestHost, 'fieldTypes'>,
    isWanted: (shardId: number) => boolean,
  ): Batch;
  /** Takes back a batch: its rows, new fields and new series. Only the newest batch that is still there. */
  rollback(batch: Batch): void;

  /** One more than the largest id. Ids of removed series are not used again. */
  readonly nextSeriesId: number;
  /** Ids below `nextId` will not be given to new series; for opening an index whose last series were removed. */
  reserveSeriesIds(nextId: number): void;
  /** Series that exist. */
  readonly seriesCount: number;
  /** Canonical key, `undefined` for ids that do not exist. */
  seriesKey(id: number): Uint8Array | undefined;
  /** `undefined` when there is no such series. */
  findSeries(key: Uint8Array): number | undefined;
  /** Adds series under given ids (opening the index); ids must increase and be unused. */
  loadSeries(ids: Uint32Array, keys: readonly Uint8Array[]): void;
  removeSeries(ids: Uint32Array): void;

  /** The memtable that takes the rows of a shard at present; `undefined` when it has none. */
  activeMemtable(shardId: number): MemtableId | undefined;
  /** Ends the active memtable of a shard: it is only read from now on. The next row starts a new one. */
  seal(shardId: number): MemtableId | undefined;
  /** Frees a memtable; it and its tables must not be used any more. */
  free(memtable: MemtableId): void;
  tables(memtable: MemtableId): readonly TableInfo[];
  read(table: TableId, options?: TableRead): SortedRows;

  /** Bytes held by memtables; the caller flushes at its own mark. */
  readonly memtableBytes: number;
  /** Bytes held by the series table. */
  readonly seriesBytes: number;
  /** Size of the linear memory. */
  readonly memoryBytes: number;
}
