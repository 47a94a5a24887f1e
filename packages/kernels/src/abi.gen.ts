// Generated from abi/ by `npm run abi -w @tidemark/kernels`; do not edit.

/** Negative results of exports that read bytes. */
export const CODEC_ERRORS = {
  truncated: -1,
  encoding: -2,
  value: -3,
  'too-large': -4,
} as const;

/** What a block holds (docs/formats/encodings.md). */
export const BLOCK_KINDS = {
  integers: 0,
  floats: 1,
  bits: 2,
} as const;

/** First byte of a sequence of integers. */
export const INTEGER_ENCODINGS = {
  raw: 1,
  constant: 2,
  step: 3,
  packed: 4,
  delta: 5,
  delta2: 6,
  huffman: 7,
} as const;

/** First byte of a sequence of floats. */
export const FLOAT_ENCODINGS = {
  raw: 16,
  constant: 17,
  scaled: 18,
  xor: 19,
} as const;

/** First byte of a sequence of booleans, or of the validity of rows. */
export const BIT_ENCODINGS = {
  packed: 32,
  constant: 33,
  runs: 34,
} as const;

/** First byte of a sequence of strings. */
export const STRING_ENCODINGS = {
  dictionary: 48,
  evenFrames: 49,
  frames: 50,
} as const;

/** Log records are encoded fast, segments small: they are written once and read often. */
export const EFFORTS = {
  fast: 0,
  small: 1,
} as const;

/** Types of fields in tables of a batch. */
export const FIELD_TYPES = {
  float: 0,
  integer: 1,
  unsigned: 2,
  string: 3,
  boolean: 4,
} as const;

/**
 * Kinds of values in a column, for windows, the cache and the printer of rows. Booleans are bytes
 * of 0 and 1.
 */
export const VALUE_KINDS = {
  float: 0,
  integer: 1,
  unsigned: 2,
  boolean: 3,
  time: 4,
  text: 5,
  epoch: 6,
} as const;

/**
 * Results that are wanted of windows, as bits. `mean` keeps the upper half of a sum of integers, so
 * that means are right beyond 64 bits.
 */
export const WINDOW_WANTS = {
  sum: 1,
  extremes: 2,
  mean: 4,
} as const;

/** Which rows tallies keep: the best ones, or the number of each value. */
export const RANKS = {
  none: 0,
  top: 1,
  bottom: 2,
} as const;

/** Orders of the values of a tally: by value, or by first or last time, then by value. */
export const TALLY_ORDERS = {
  key: 0,
  first: 1,
  last: 2,
} as const;

/** Which rows a filter keeps. */
export const COMPARISONS = {
  equal: 0,
  less: 1,
  atMost: 2,
} as const;

/** Why the ingest kernel stopped. */
export const INGEST_EVENTS = {
  done: 0,
  line: 1,
  shard: 2,
  table: 3,
  series: 4,
  conflict: 5,
  full: 6,
  memory: 7,
  retention: 8,
} as const;

/** Why reading rows stopped: see `RowStop`; or memory is exhausted. */
export const ROW_STOPS = {
  end: 0,
  'new-series': 1,
  other: 2,
  full: 3,
  'no-memory': -1,
} as const;

/** Kinds of fields in rows. */
export const ROW_KINDS = {
  float: 0,
  integer: 1,
  boolean: 2,
  string: 3,
} as const;

/** Orders of ids: series by key, symbols by their texts, series by tags. */
export const ID_ORDERS = {
  series: 0,
  symbols: 1,
  seriesByTags: 2,
} as const;

/** Dictionaries of tags. */
export const TAG_DICTIONARIES = {
  values: 0,
  keys: 1,
} as const;

/** What can be asked of windows. */
export const WINDOW_RESULTS = {
  start: 0,
  count: 1,
  sum: 2,
  min: 3,
  minTime: 4,
  max: 5,
  maxTime: 6,
  first: 7,
  firstTime: 8,
  last: 9,
  lastTime: 10,
  mean: 11,
  spread: 12,
} as const;

/** Largest number of values in a block. */
export const BLOCK_VALUES_MAX = 4194304;
/** Space behind the end of a body, filled with newlines: loops read that far. */
export const BODY_SLACK_BYTES = 64;
/** Largest number of fields in a point. */
export const POINT_FIELDS_MAX = 65536;
/**
 * Largest number of rows of a cached column, which takes an eighth of a slab at most, so that
 * little space is left unused at the end.
 */
export const CACHED_ROWS_MAX = 4096;
/** Size of the header before the values of a cached column. */
export const CACHED_HEADER_BYTES = 32;
/**
 * Largest number of words that `splitSeries` returns. The largest series takes two, and two per tag
 * of three bytes.
 */
export const SPLIT_WORDS = 131072;
/**
 * Size of the longest key that is split while rows are read; longer ones are left to the caller.
 */
export const EXPECTED_KEY_MAX = 16384;
/** Means no series, no text or no name. */
export const NO_ID = 4294967295;
/** Number of negative powers of ten in the table at `decimalPowers`. */
export const DECIMAL_POWERS = 20;
/** Exponent of the first power of ten at `floatPowers`. */
export const FLOAT_POWER_LEAST = -292;
/** Exponent of the last power of ten at `floatPowers`. */
export const FLOAT_POWER_MOST = 324;

/** A text in linear memory. Offsets in bytes. */
export const REFERENCE = {
  address: 0,
  length: 4,
} as const;
export const REFERENCE_BYTES = 8;

/**
 * A window of an accumulator. Times and counts are integers, values have the type of the
 * accumulator. `sumHigh` has the upper 64 bits of a sum of integers. Offsets in bytes.
 */
export const WINDOW = {
  start: 0,
  count: 8,
  sum: 16,
  min: 24,
  minTime: 32,
  max: 40,
  maxTime: 48,
  first: 56,
  firstTime: 64,
  last: 72,
  lastTime: 80,
  sumHigh: 88,
} as const;
export const WINDOW_BYTES = 96;

/** A window of a group of tallies, and the address of its tally. Offsets in bytes. */
export const TALLIED_WINDOW = {
  start: 0,
  tally: 8,
} as const;
export const TALLIED_WINDOW_BYTES = 16;

/**
 * A row among the best ones: its value as a word (in a heap, its key) and its time. Offsets in
 * bytes.
 */
export const RANKED_ROW = {
  value: 0,
  time: 8,
} as const;
export const RANKED_ROW_BYTES = 16;

/**
 * A column to print: its kind (`VALUE_KINDS`), addresses (`valid` is 0 when there are no nulls),
 * and the nanoseconds per unit of an epoch. Offsets in bytes.
 */
export const JSON_COLUMN = {
  kind: 0,
  values: 4,
  valid: 8,
  positions: 12,
  texts: 16,
  unit: 24,
} as const;
export const JSON_COLUMN_BYTES = 32;

/** Scratch areas of the loader, see abi/areas.mjs. */
export const Area = {
  /** What an export reads. */
  input: 0,
  /** What an export writes. */
  output: 1,
  /** References to the texts of an input, row by row. */
  references: 2,
  /** A mask of rows. */
  mask: 3,
  /** Groups of rows for windows. */
  groups: 4,
  /** Times of rows for windows. */
  times: 5,
  /** Values of rows for windows. */
  values: 6,
  /** Validity of rows for windows. */
  valid: 7,
  /** A name or key that is looked up. */
  name: 8,
} as const;
export type Area = (typeof Area)[keyof typeof Area];
