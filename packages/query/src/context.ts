// The context of a statement's execution: data, catalog, clock, limits, and the target of INTO.
import type { Diagnostic, FieldValue, Precision, Timestamp, UnsignedValue } from '@tidemark/core';

import type { QueryLimits } from './limits.ts';
import type {
  SourceCapabilities,
  SourceCounters,
  SourceMemory,
  SourceSnapshot,
} from './series-source.ts';

/** Look-ups in the catalog of databases. Answers are consistent within one statement. */
export interface QueryCatalog {
  hasDatabase(database: string): boolean;
  hasRetentionPolicy(database: string, retentionPolicy: string): boolean;
  /** Name of the default policy; `undefined` when the database has none. */
  defaultRetentionPolicy(database: string): string | undefined;
  /** All policies of a database in the order of creation; empty when there is no such database. */
  retentionPolicies(database: string): readonly string[];
}

/** A row that INTO writes. */
export type IntoPoint = {
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
  readonly fields: readonly (readonly [string, FieldValue | UnsignedValue])[];
  readonly time: Timestamp;
};

/** The retention policy that INTO writes to. */
export type WriteTarget = { readonly database: string; readonly retentionPolicy: string };

/** The target of INTO. Rejects with an `AppError` whose message becomes the statement's error. */
export interface PointSink {
  write(target: WriteTarget, points: readonly IntoPoint[]): Promise<void>;
  /**
   * The same for points in line protocol with nanoseconds, if the sink has a faster way for them.
   */
  writeLines?(target: WriteTarget, body: Uint8Array): Promise<void>;
}

/**
 * Memory that the queries of a process share, in all its threads. A query may hold a little without
 * asking; when it holds more it waits, at the next pause, until there is room. So the few queries
 * that need much run one after another.
 */
export interface QueryMemory {
  /** Called with the memory of a statement of the query whenever it changes. */
  holds(sizeBytes: number): void;
  /**
   * Whether the query holds more than it may without being admitted: it has to wait for `admit`
   * before it goes on.
   */
  readonly isAsking: boolean;
  /**
   * Resolves when the query may hold what it holds; rejects when there is no room in time.
   */
  admit(): Promise<void>;
  /** The part of the memory that a request to the source may use. */
  openSource(): SourceMemory;
  /** Called with the size of batches from another thread: objects that are soon garbage. */
  received(sizeBytes: number): void;
}

/** Takes all series of a statement as text, if a source has it, instead of their rows. */
export interface SeriesText {
  readonly epoch: Precision | undefined;
  /** Text is not cut: a series has at most this many rows. */
  readonly maxRows: number;
  append(series: Uint8Array): void;
}

/** The context in which a statement is executed. */
export type QueryContext = {
  /** The caller opens it before and closes it after the statement. */
  readonly snapshot: SourceSnapshot;
  readonly capabilities: SourceCapabilities;
  readonly catalog: QueryCatalog;
  /** Database of the request; `undefined` when it names none. */
  readonly database?: string | undefined;
  /** Retention policy of the request, for measurements that name none. */
  readonly retentionPolicy?: string | undefined;
  /** `now()` of the statement. */
  readonly now: Timestamp;
  readonly limits: QueryLimits;
  /** Absent: a query may hold all that `limits` allow. */
  readonly memory?: QueryMemory | undefined;
  /** Aborted by KILL QUERY, query-timeout, disconnect and shutdown; its `reason` is thrown. */
  readonly signal: AbortSignal;
  /** Monotonic milliseconds, for slices of work and for EXPLAIN ANALYZE. */
  readonly monotonicMs: () => number;
  /** Numbers in [0, 1) for `sample()`. */
  readonly random: () => number;
  /** Needed by statements with INTO. */
  readonly sink?: PointSink | undefined;
  readonly counters?: SourceCounters | undefined;
  /** Absent if the answer is not text, or its rows are counted. */
  readonly seriesText?: SeriesText | undefined;
  /**
   * Called with what the answer lacks (`RequestOptions`); absent if the answer cannot report it.
   */
  readonly onPartial?: ((reason: string) => void) | undefined;
  /** Called with possible misunderstandings of an answer; each text once or more. */
  readonly onWarning?: ((text: string) => void) | undefined;
  /** Called with unknown names: such a statement runs, without values for them. */
  readonly onFinding?: ((finding: Diagnostic) => void) | undefined;
  /**
   * Databases that the user may read, for statements that name one; `undefined` allows all. Checked
   * per source, so that a subquery or a qualified measurement cannot reach further than the user.
   */
  readonly canRead?: ((database: string) => boolean) | undefined;
};
