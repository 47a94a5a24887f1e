// The interface that a query needs from storage, be it the embedded engine or a cluster
// (docs/adr/0003-series-source.md).
//
// Series are named by their tags, never by a local id, and nothing here assumes that storage is
// local. Everything that can be decided per series (tag predicates), per chunk (time range,
// statistics) or per value (field comparisons, windowed aggregates) is pushed through this
// interface; everything else happens in operators above it.
import type {
  Column,
  ComparisonOperator,
  FieldType,
  FieldValue,
  Precision,
  TimeRange,
} from '@tidemark/core';

import type { QueryLimits } from './limits.ts';
import type { MeasurementNames } from './measurement-names.ts';
import type { Operator, Steps } from './operator.ts';

/**
 * One measurement of one retention policy. Both names are resolved: no defaults, no regular
 * expressions.
 */
export type MeasurementRef = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly measurement: string;
};

/**
 * A condition on one row. Tag leaves are the same for all rows of a series and are evaluated once
 * per distinct tag value; a missing tag is the empty string. A field leaf is false where the field
 * is null or of an incomparable type (number against string). Numbers compare numerically across
 * float, integer and unsigned. Regular expressions are RE2 text, unanchored, and apply to tags and
 * string fields.
 */
export type Predicate =
  | { readonly kind: 'and' | 'or'; readonly left: Predicate; readonly right: Predicate }
  | { readonly kind: 'constant'; readonly value: boolean }
  | {
      readonly kind: 'tag';
      readonly key: string;
      readonly operator: '=' | '!=';
      readonly value: string;
    }
  | {
      readonly kind: 'tag-regex';
      readonly key: string;
      readonly operator: '=~' | '!~';
      readonly pattern: string;
    }
  | {
      readonly kind: 'field';
      readonly field: string;
      readonly operator: ComparisonOperator;
      readonly value: FieldValue;
    }
  | {
      readonly kind: 'field-regex';
      readonly field: string;
      readonly operator: '=~' | '!~';
      readonly pattern: string;
    }
  | CalculatedPredicate;

/**
 * A condition that is calculated from values of a row. Only a source that `calculatesConditions` is
 * given one.
 */
export type CalculatedPredicate = {
  readonly kind: 'calculated';
  /** The fields that it reads. */
  readonly fields: readonly FieldRef[];
  readonly tags: readonly string[];
  /** Plain data, which only `project/calculated.ts` reads: over the fields, then the tags. */
  readonly expression: object;
};

/** A field to read, in the type in which the query wants it. */
export type FieldRef = {
  readonly name: string;
  /**
   * Wanted type. Where a shard holds the field in another type, numeric types convert (float to
   * integer truncates toward zero, out of range becomes the smallest int64); string and boolean do
   * not convert: null.
   */
  readonly type: FieldType;
};

/**
 * Grouping of series. `'all'` is one group per series; a list groups by these tags, missing tags
 * being empty.
 */
export type SeriesGrouping = readonly string[] | 'all';

type RowRequest = {
  readonly source: MeasurementRef;
  readonly timeRange: TimeRange;
  readonly where?: Predicate | undefined;
  readonly descending: boolean;
  readonly groupBy: SeriesGrouping;
};

/** Rows of all matching series. */
export type ScanRequest = RowRequest & {
  /** A row is delivered when at least one of these fields is not null at its time. */
  readonly fields: readonly FieldRef[];
  /** Stop after this many rows of each series (after `where`); `undefined` means all. */
  readonly limitPerSeries?: number | undefined;
  /**
   * Only this many rows of each group are needed: those that come first by time in the order of the
   * request, and those with the time of the last of them. The source may leave out the others.
   */
  readonly limitPerGroup?: number | undefined;
  /**
   * For this many series of each group, the next row after those is needed, too: among rows of
   * equal time, it tells which comes next. A source that has sent rows of fewer series has left out
   * none that has rows in the shard of the last needed row or in an earlier one.
   */
  readonly rowsBehind?: number | undefined;
  /**
   * Tags that may decide between rows of equal time of a group (bytewise, in this order; reversed
   * for a descending scan). If all series of the group have them, a source may send the series in
   * their order, and of those that come after `limitPerGroup` rows leave out the rows of the last
   * one's time, unless a series that it has sent has the same values.
   */
  readonly tieTags?: readonly string[] | undefined;
  /**
   * The tags that are read. Others may be left out, and `seriesKey` may be any text that
   * distinguishes series of the measurement. `undefined`: all of them, and the keys.
   */
  readonly tags?: readonly string[] | undefined;
};

/**
 * Consecutive rows of one series. All batches of a series follow each other; within a series time
 * is strictly monotonic (ascending, or descending on request). Series follow each other in the
 * order of their group's tag values (bytewise, in the order of `groupBy`), then of their series
 * key; both reversed for a descending scan. `tieTags` may order them otherwise.
 */
export type SeriesBatch = {
  /** Canonical series key: `measurement,tag=value,…`, tags sorted by key, line-protocol escapes. */
  readonly seriesKey: string;
  /** All tags of the series. */
  readonly tags: ReadonlyMap<string, string>;
  readonly times: BigInt64Array;
  /**
   * One column per requested field, in the order of the request; a field that is absent here is all
   * null.
   */
  readonly columns: readonly Column[];
};

export const AGGREGATE_FUNCTIONS = [
  'count',
  'sum',
  'mean',
  'min',
  'max',
  'first',
  'last',
  'spread',
] as const;
export type AggregateFunction = (typeof AGGREGATE_FUNCTIONS)[number];

/**
 * Aggregates of one field, computed in one pass. `type` is the type in which the field is read (see
 * FieldRef).
 */
export type FieldAggregates = {
  readonly field: string;
  readonly type: FieldType;
  readonly functions: readonly AggregateFunction[];
};

/** Functions whose windows have points: one, none, or several. */
export type FoldFunction =
  | { readonly kind: 'median' | 'mode' | 'distinct' | 'count-distinct' }
  /** `hasTime`: its point has its own time. Then there is no window, and no other function. */
  | { readonly kind: 'percentile'; readonly percent: number; readonly hasTime?: boolean }
  | { readonly kind: 'top' | 'bottom'; readonly size: number };

export const FOLD_FUNCTIONS = [
  'median',
  'mode',
  'distinct',
  'count-distinct',
  'percentile',
  'top',
  'bottom',
] as const satisfies readonly FoldFunction['kind'][];

type FoldedField = { readonly field: string; readonly type: FieldType };

/** Functions of one field that need all values of a window, in any order. */
export type FieldFolds = FoldedField & {
  readonly functions: readonly FoldFunction[];
};

/**
 * The rows of a window with the best values of a field, and other columns of these rows. Of equal
 * values the earliest is the best.
 */
export type BestRows = FoldedField & {
  /** The largest or smallest values, or those of the first or last time. */
  readonly order: 'top' | 'bottom' | 'first' | 'last';
  readonly count: number;
  /** Only the best row of each combination of these tags counts; all do if there are none. */
  readonly distinctTags: readonly string[];
  readonly columns: readonly RowColumn[];
};

/** A column of a row: a field in the wanted type, or a tag of its series, null if it has none. */
export type RowColumn =
  | { readonly kind: 'field'; readonly name: string; readonly type: FieldType }
  | { readonly kind: 'tag'; readonly name: string };

/**
 * Windows of equal length aligned to the Unix epoch plus `offset`: window of t = [s, s+every), s =
 * t-((t-offset) mod every).
 */
export type WindowSpec = { readonly everyNanos: bigint; readonly offsetNanos: bigint };

/** Windowed aggregates of groups of series, of one measurement after another. */
export type AggregateRequest = Omit<MeasurementAggregates, 'source'> & {
  readonly sources: readonly MeasurementRef[];
};

/** The request for one of the measurements. */
export type MeasurementAggregates = RowRequest & {
  readonly aggregates: readonly FieldAggregates[];
  readonly folds?: readonly FieldFolds[] | undefined;
  /** Has points, as a function behind those of `folds`; then there are no other fields. */
  readonly best?: BestRows | undefined;
  /** `undefined`: one window that spans the whole time range; its start is `timeRange.start`. */
  readonly window?: WindowSpec | undefined;
  /**
   * At most this many non-empty windows per group, in the order of delivery; storage may stop
   * reading there.
   */
  readonly limitWindows?: number | undefined;
  /**
   * `first` and `last` choose among rows of one time as `pickTied` does
   * (`functions/merge-heads.ts`). Only without a window.
   */
  readonly picksTiedByKey?: boolean | undefined;
  /** The times of selected points are not read: they may be left out. */
  readonly omitsPointTimes?: boolean | undefined;
};

/**
 * Aggregates of consecutive non-empty windows of one group. All batches of a measurement follow
 * each other, and in these all of a group; groups are ordered by tag values (bytewise, in the order
 * of `groupBy`), reversed when descending; windows by start.
 *
 * Semantics: sum of integers wraps in int64, of unsigned in uint64; mean = sum / count, of integers
 * with a sum that does not wrap; min/max keep the earliest point among equals and support boolean
 * (false < true); first/last by time, among equal times the larger value (first of booleans prefers
 * false; see `picksTiedByKey`); spread = max - min (integers wrap). Types: count integer, mean
 * float, the others as the field. Strings and booleans: only count, first, last (booleans min and
 * max too); other functions give all-null columns.
 */
export type AggregateBatch = {
  /** The index of its measurement in `sources`; the first if absent. */
  readonly source?: number | undefined;
  /**
   * Values of the `groupBy` tags (all tags of the series for `'all'`), missing tags as empty
   * string.
   */
  readonly groupTags: ReadonlyMap<string, string>;
  readonly windowStarts: BigInt64Array;
  /** One entry per element of `aggregates`, each with one column per element of `functions`. */
  readonly fields: readonly (readonly AggregateColumn[])[];
  /**
   * One entry per element of `folds`, each with the points of each of its functions. A batch may
   * have no `fields`, or no `points`: then another one of the same windows has them.
   */
  readonly points?: readonly (readonly WindowPoints[])[] | undefined;
  /**
   * The batch has no windows: which rows of the group are the best depends on the order of rows of
   * one time and value, which only a merge of all rows tells.
   */
  readonly isTied?: boolean | undefined;
};

/**
 * The points of a function, window after window, in the order of the request. A window with very
 * many continues in the next batch.
 */
export type WindowPoints = {
  /** How many points each window has here. */
  readonly counts: Uint32Array;
  readonly values: Column;
  /** The times of the points; absent if they have those of their windows. */
  readonly times?: BigInt64Array | undefined;
  /** The columns of the best rows. */
  readonly columns?: readonly Column[] | undefined;
};

export type AggregateColumn = {
  readonly values: Column;
  /**
   * Time of the selected point per window, for min, max, first, last; where `values` is null it is
   * unspecified.
   */
  readonly pointTimes?: BigInt64Array | undefined;
};

/** Limits the series of a schema look-up. */
export type SchemaFilter = {
  readonly database: string;
  /** `undefined`: all retention policies. */
  readonly retentionPolicy?: string | undefined;
  /** Exact names; `undefined` means every measurement. */
  readonly measurements?: readonly string[] | undefined;
  /** RE2, unanchored. Applies in addition to `measurements`. */
  readonly measurementPattern?: string | undefined;
  /** Only tag leaves are allowed here. */
  readonly where?: Predicate | undefined;
  /** Series with data in shards that overlap this range; `undefined` means all. */
  readonly timeRange?: TimeRange | undefined;
};

/**
 * A schema look-up. Every answer is sorted bytewise by all its columns, series by the keys and
 * values of their tags, without duplicates. It comes in batches of at most some thousand entries,
 * so that several consecutive batches may be about one measurement, or one key of it.
 */
export type SchemaRequest =
  /** Fields and tags of each measurement, of all policies and times. */
  | { readonly kind: 'names'; readonly filter: NamesFilter }
  | { readonly kind: 'measurements'; readonly filter: SchemaFilter }
  /**
   * Every (field, type) pair of each measurement; a field with two types in two shards appears
   * twice.
   */
  | { readonly kind: 'fields'; readonly filter: SchemaFilter }
  | { readonly kind: 'tag-keys'; readonly filter: SchemaFilter }
  | {
      readonly kind: 'tag-values';
      readonly filter: SchemaFilter;
      readonly keys: TagKeyMatch;
      /** At most this many pairs of key and value of each measurement; `undefined` means all. */
      readonly limitPerMeasurement?: number | undefined;
    }
  | {
      readonly kind: 'series';
      readonly filter: SchemaFilter;
      /**
       * The order of one measurement's series: by their tags, or by their keys as bytes. Default:
       * tags.
       */
      readonly order?: SeriesOrder | undefined;
    }
  /** The number of series of each measurement. Measurements without any are left out. */
  | { readonly kind: 'series-cardinality'; readonly filter: SchemaFilter }
  /** Estimated (HyperLogLog or counters) number of series or measurements of a database. */
  | {
      readonly kind: 'cardinality';
      readonly filter: SchemaFilter;
      readonly of: 'series' | 'measurements';
    }
  /** The number of values per tag key of each measurement's series. */
  | {
      readonly kind: 'tag-cardinality';
      readonly filter: SchemaFilter;
      readonly keys: TagKeyMatch;
    };

/** Measurements whose names are looked up. */
export type NamesFilter = Pick<SchemaFilter, 'database' | 'measurements' | 'measurementPattern'>;

export type SeriesOrder = 'tags' | 'key';

export type TagKeyMatch =
  | { readonly kind: 'in'; readonly keys: readonly string[] }
  | { readonly kind: 'not'; readonly key: string }
  | { readonly kind: 'regex'; readonly operator: '=~' | '!~'; readonly pattern: string };

/** Rows of a schema answer; its columns depend on the request's kind. */
export type SchemaBatch =
  /** About one measurement; further batches of it continue its fields. */
  | {
      readonly kind: 'names';
      readonly measurement: string;
      readonly tags: readonly string[];
      /** The shards with series of the measurement, by policy, then by time. */
      readonly shards: readonly ShardSpan[];
      /** By name, then by type. */
      readonly fields: readonly FieldInShards[];
      /** Whether further series with the names in this batch cannot change the answer. */
      readonly isSettled: boolean;
    }
  | { readonly kind: 'measurements'; readonly names: readonly string[] }
  | {
      readonly kind: 'fields';
      readonly measurement: string;
      readonly fields: readonly { readonly name: string; readonly type: FieldType }[];
    }
  | { readonly kind: 'tag-keys'; readonly measurement: string; readonly keys: readonly string[] }
  | {
      readonly kind: 'tag-values';
      readonly measurement: string;
      readonly key: string;
      readonly values: readonly string[];
    }
  | { readonly kind: 'series'; readonly measurement: string; readonly keys: readonly string[] }
  | { readonly kind: 'series-cardinality'; readonly measurement: string; readonly count: number }
  | { readonly kind: 'cardinality'; readonly count: number; readonly isExact: boolean }
  /** One batch per measurement; keys sorted. Counts are exact, or estimates within some percent. */
  | {
      readonly kind: 'tag-cardinality';
      readonly measurement: string;
      readonly keys: readonly {
        readonly key: string;
        readonly count: number;
        readonly isExact: boolean;
      }[];
    };

/** Half-open: [start, end). Those of a policy do not overlap. */
export type ShardSpan = {
  readonly retentionPolicy: string;
  readonly start: bigint;
  readonly end: bigint;
};

/** A field, in the shards with these numbers; if absent, in all that have the measurement. */
export type FieldInShards = {
  readonly name: string;
  readonly type: FieldType;
  readonly shards?: readonly number[] | undefined;
};

/** The capabilities of a source; a query plans with them. */
export type SourceCapabilities = {
  /** All requests made with one `SourceSnapshot` see the same set of acknowledged points. */
  readonly hasSnapshots: boolean;
  readonly aggregateFunctions: ReadonlySet<AggregateFunction>;
  readonly foldFunctions: ReadonlySet<FoldFunction['kind']>;
  /** Field leaves in `where` are evaluated by the source. Tag leaves always are. */
  readonly filtersFields: boolean;
  /** So are calculated conditions. */
  readonly calculatesConditions: boolean;
  /** It answers `best` of an aggregation. */
  readonly ranksRows: boolean;
};

/** Counters of the cost of a request; EXPLAIN ANALYZE and limits read them. */
export type SourceCounters = {
  seriesVisited: number;
  chunksRead: number;
  chunksSkipped: number;
  chunksAnsweredByStatistics: number;
  rowsRead: number;
  bytesRead: number;
  /** Milliseconds that readers have worked for the source, in threads of their own. */
  readerMs: number;
};

/** A SELECT that the source executes as a whole (`answer.ts`). */
export type AnswerRequest = {
  /**
   * Plain data, which only `answer.ts` reads, as `bound`. The same object is sent again with other
   * ranges and values, which replace its own.
   */
  readonly plan: object;
  /** The values of this statement; absent when it has none. */
  readonly bound?: object | undefined;
  readonly range: TimeRange;
  /** RFC 3339 if absent. */
  readonly epoch: Precision | undefined;
  /** The same for all requests of a plan. */
  readonly limits: QueryLimits;
};

/** The group of a scan whose reader needs no more rows; the reader changes it. */
export type EndedGroup = {
  /** Its tags, in the order of `groupBy`. */
  tags: readonly string[] | undefined;
};

/** The part of a query's memory that one request to the source may use. */
export interface SourceMemory {
  /** Bytes that the request may hold without asking. */
  readonly grantedBytes: number;
  /**
   * Resolves when the request may hold this much, which is then in `grantedBytes`; rejects when
   * there is no room in time.
   */
  ask(sizeBytes: number): Promise<void>;
  /** The request has ended. Idempotent. */
  release(): void;
}

/** Options of every request. Cancellation takes effect within 50 ms. */
export type RequestOptions = {
  readonly signal: AbortSignal;
  readonly counters?: SourceCounters | undefined;
  /** Ends the request with `LimitExceeded` when it would hold more than this at once. */
  readonly memoryLimitBytes?: number | undefined;
  /**
   * The memory of the query, if others share it. A request that holds more than granted waits.
   * `received` is told the size of batches that come from another thread.
   */
  readonly memory?: { openSource(): SourceMemory; received?(sizeBytes: number): void } | undefined;
  /** For a scan: a group that the source need not read any further. It may send more of it. */
  readonly ended?: EndedGroup | undefined;
  /**
   * Called with a sentence on what the answer lacks because it cannot be read, if the source may
   * answer nevertheless. Without it, such a request fails, so that a partial answer is never taken
   * for a complete one.
   */
  readonly onPartial?: ((reason: string) => void) | undefined;
};

/** Options of a small answer. Its text does not mention missing data. */
export type AnswerOptions = Pick<RequestOptions, 'signal'> & {
  readonly onPartial: (reason: string) => void;
};

/** A scan to estimate. Only tag leaves in `where`. */
export type CostRequest = {
  readonly source: MeasurementRef;
  readonly timeRange: TimeRange;
  readonly where?: Predicate | undefined;
  readonly fields: readonly string[];
  /** The aggregates that will be read instead of the points. */
  readonly aggregate?: MeasurementAggregates | undefined;
};

/** The estimated cost of a scan. */
export type SourceCost = {
  readonly shards: number;
  /** Series of the measurement in all retention policies of the database. */
  readonly series: number;
  /** Values of the fields that are only in memory. */
  readonly cachedValues: number;
  readonly files: number;
  readonly blocks: number;
  readonly blockBytes: number;
  /** The statements that a source sends to another system. */
  readonly statements?: readonly string[] | undefined;
};

/**
 * A consistent view of acknowledged points. It must be closed, because it delays the deletion of
 * files. It has a maximum age, after which requests end with `Unavailable`.
 */
export interface SourceSnapshot {
  schema(request: SchemaRequest, options: RequestOptions): Operator<SchemaBatch>;
  /**
   * Fields and tags of measurements, sorted by name. Does not pause for what the source has cached;
   * may include names that were added after the snapshot was taken.
   */
  names(filter: NamesFilter, options: RequestOptions): Steps<readonly MeasurementNames[]>;
  scan(request: ScanRequest, options: RequestOptions): Operator<SeriesBatch>;
  aggregate(request: AggregateRequest, options: RequestOptions): Operator<AggregateBatch>;
  /** The cost of a scan; EXPLAIN prints it. Absent if the source cannot estimate it. */
  cost?(request: CostRequest, options: RequestOptions): Steps<SourceCost>;
  /**
   * The text of all series of an answer; `undefined` if it cannot be written. Absent if the source
   * has its points in the calling thread.
   */
  answer?(request: AnswerRequest, options: AnswerOptions): Steps<Uint8Array | undefined>;
  close(): void;
}

/** The one interface that queries need from storage. */
export interface SeriesSource {
  readonly capabilities: SourceCapabilities;
  snapshot(): SourceSnapshot;
}
