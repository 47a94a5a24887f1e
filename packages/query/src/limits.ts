// Limits of queries (names, defaults, units, reasons) and the messages for reaching them.
import { LimitExceeded } from '@tidemark/core';

/** The limits of one query. 0 always means unlimited. */
export type QueryLimits = {
  /** `coordinator.max-select-point`: points read by one SELECT. */
  readonly maxSelectPoints: number;
  /** `coordinator.max-select-series`: series read by one SELECT. */
  readonly maxSelectSeries: number;
  /** `coordinator.max-select-buckets`: windows made by one SELECT. */
  readonly maxSelectBuckets: number;
  /**
   * `coordinator.max-filled-windows`: windows that `fill` makes in one SELECT, even without points
   * in them.
   */
  readonly maxFilledWindows: number;
  /** `coordinator.query-memory-limit`: bytes that one query may hold at once. */
  readonly maxQueryMemoryBytes: number;
  /** `coordinator.max-subquery-depth`: nesting of subqueries. */
  readonly maxSubqueryDepth: number;
  /** `coordinator.max-select-sources`: sources in the FROM of one SELECT. */
  readonly maxSelectSources: number;
  /** `coordinator.max-condition-fields`: fields in one WHERE; each is compared in every row. */
  readonly maxConditionFields: number;
  /** `coordinator.max-select-columns`: columns of one answer, wildcards expanded. */
  readonly maxSelectColumns: number;
  /**
   * `coordinator.max-select-dimensions`: tags in GROUP BY, wildcards expanded; the answer has all
   * of them for every series.
   */
  readonly maxSelectDimensions: number;
  /** Rows of one group that are merged at once; absent is `MERGE_ROWS`. */
  readonly mergeRows?: number | undefined;
};

/**
 * Defaults: the recorded ones where these exist, otherwise bounds that keep a query from ending the
 * server.
 */
export const DEFAULT_QUERY_LIMITS: QueryLimits = {
  maxSelectPoints: 0,
  maxSelectSeries: 0,
  maxSelectBuckets: 0,
  // More than a year of seconds; ten million are answered in some seconds.
  maxFilledWindows: 50_000_000,
  maxQueryMemoryBytes: 256 * 1024 * 1024,
  maxSubqueryDepth: 100,
  maxSelectSources: 1000,
  // Comparing a block of 8,192 rows with this many fields takes less than 100 ms.
  maxConditionFields: 2000,
  maxSelectColumns: 50_000,
  maxSelectDimensions: 1000,
};

/**
 * Maximum size of a cached plan: those of dashboards have some kilobytes. The thread of the source
 * has its own limit on the number of plans.
 */
export const PLAN_BYTES_MAX = 64 * 1024;

/** Memory of all cached plans; the least recently used ones are dropped first. */
export const PLAN_CACHE_BYTES = 16 * 1024 * 1024;

/** Keys of the shapes of reads of whole series. */
export const SERIES_SHAPES_BYTES = 1024 * 1024;

/** How long operators on the main thread work before they let others run. */
export const SLICE_MS = 4;

/** Rows of one batch between operators and of one result batch. */
export const BATCH_ROWS = 4096;

/**
 * Values that an operator yields between two pauses: a fraction of a millisecond. A pause passes a
 * dozen operators on its way, so a row of a few columns is not worth one.
 */
export const PAUSE_CELLS = 4096;

/**
 * Rows that operators take at once of a merged or reduced whole: a few milliseconds for any of
 * them.
 */
export const SLICE_ROWS = 1 << 15;

/** Maximum number of cells per batch: fewer rows where there are very many columns. */
export const BATCH_CELLS = 1 << 18;

/** Rows times nodes of a condition that are evaluated before others may run: a few milliseconds. */
export const CONDITION_CELLS = 1 << 17;

/**
 * Nodes of a condition that the source calculates for a block of some thousand rows without a
 * pause: some milliseconds. Larger ones are evaluated here.
 */
export const CALCULATED_NODES = 100;

/**
 * Windows times columns of an answer that the source's thread produces: a fraction of a
 * millisecond, for which writes wait.
 */
export const SMALL_ANSWER_CELLS = 4096n;

/**
 * Size of the rows that such an answer merges, some ten thousand; with more, it is produced
 * elsewhere.
 */
export const SMALL_ANSWER_BYTES = 1 << 19;

/**
 * What such an answer of aggregates may hold: 50,000 series. With more, the query asks for memory.
 */
export const SMALL_AGGREGATION_BYTES = 8 << 20;

/**
 * Rows of one group that are merged at once; more are read in slices of time. About 25 MB with ten
 * fields.
 */
export const MERGE_ROWS = 200_000;

/**
 * Texts and tags of one group that are merged at once, at most a quarter of the query's memory.
 * With fewer, blocks of texts that lie in several slices are decoded more often.
 */
export const MERGE_TEXT_BYTES = 64 << 20;

/** Series of a group that are read again for each slice of texts; each costs some microseconds. */
export const SLICED_SERIES_MAX = 1 << 12;

/**
 * Rows of a group that are read before it is cut into slices, if its first rows may be enough. They
 * are read within a millisecond or two; each further slice is twice as large as the previous one.
 */
export const EARLY_END_ROWS = 1 << 13;

/**
 * Number of series of a group for which a scan with a limit reads one row more than it needs. With
 * those it knows the order of rows of one time, for which it would read the group again. Each costs
 * some ten microseconds.
 */
export const ROWS_BEHIND = 128;

/** Points of `top` or `bottom` up to which the source leaves out rows that are worse. */
export const RANKED_MOST = 4096;

/**
 * Slices that one scan is cut into at most: data that is crowded in time ends at the memory limit
 * instead.
 */
export const MAX_TIME_SLICES = 100_000;

/**
 * Range of windows in a time zone up to which the source reduces them: clocks change twice a year
 * in most zones, and the windows between two changes are one request, all of which are open at
 * once.
 */
export const ZONE_SPAN_NANOS = 30n * 366n * 86_400_000_000_000n;

/** Maximum number of names that are compared with an unknown one, to suggest the nearest. */
export const SUGGESTION_NAMES_MAX = 10_000;

/** Rows that INTO passes to the sink at once, and their maximum size. */
export const INTO_BATCH_ROWS = 10_000;
export const INTO_BATCH_BYTES = 4 << 20;

/** The settings of limits on counts. */
type CountLimit =
  | 'max-select-point'
  | 'max-select-series'
  | 'max-select-buckets'
  | 'max-filled-windows'
  | 'max-select-sources'
  | 'max-subquery-depth'
  | 'max-condition-fields'
  | 'max-select-columns'
  | 'max-select-dimensions';

/** Throws `LimitExceeded` when a count is over its limit; 0 is unlimited. */
export function checkLimit(setting: CountLimit, count: number | bigint, limit: number): void {
  if (limit === 0 || count <= limit) return;
  // The recorded text about points is spelled like this.
  const exceeded = setting === 'max-select-point' ? 'exceeed' : 'exceeded';
  const text = `${setting} limit ${exceeded}: (${count}/${limit})`;
  throw new LimitExceeded(text, `coordinator.${setting}`, { hint: HINTS[setting] });
}

const HINTS: Readonly<Partial<Record<CountLimit, string>>> = {
  'max-filled-windows':
    'use fill(none) or longer intervals, or raise coordinator.max-filled-windows',
};

/** Maximum number of rows gathered for an answer in MessagePack: its lengths precede the rows. */
export const MAX_GATHERED_ROWS = 5_000_000;

/** Maximum size of these rows. */
export const MAX_GATHERED_BYTES = 256 << 20;

export function gatheredBytesExceeded(): LimitExceeded {
  return new LimitExceeded(
    `an answer in MessagePack has at most ${MAX_GATHERED_BYTES} bytes: add chunked=true, or ask for JSON`,
    'MessagePack bytes',
    { hint: 'add chunked=true, or ask for JSON' },
  );
}

export function gatheredLimitExceeded(): LimitExceeded {
  return new LimitExceeded(
    `an answer in MessagePack has at most ${MAX_GATHERED_ROWS} rows: add chunked=true, or ask for JSON`,
    'MessagePack rows',
    { hint: 'add chunked=true, or ask for JSON' },
  );
}

export function memoryLimitExceeded(limitBytes: number): LimitExceeded {
  return new LimitExceeded(
    `query-memory-limit exceeded: the query needs more than ${limitBytes} bytes at once`,
    'coordinator.query-memory-limit',
    { hint: 'narrow the time range, group by fewer tags, or raise coordinator.query-memory-limit' },
  );
}
