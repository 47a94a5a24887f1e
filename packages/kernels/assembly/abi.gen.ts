// Generated from abi/ by `npm run abi -w @tidemark/kernels`; do not edit.

// Negative results of exports that read bytes.
export const ERROR_TRUNCATED: i32 = -1;
export const ERROR_ENCODING: i32 = -2;
export const ERROR_VALUE: i32 = -3;
export const ERROR_TOO_LARGE: i32 = -4;

// What a block holds (docs/formats/encodings.md).
export const BLOCK_INTEGERS: u32 = 0;
export const BLOCK_FLOATS: u32 = 1;
export const BLOCK_BITS: u32 = 2;

// First byte of a sequence of integers.
export const INT_RAW: u32 = 1;
export const INT_CONSTANT: u32 = 2;
export const INT_STEP: u32 = 3;
export const INT_PACKED: u32 = 4;
export const INT_DELTA: u32 = 5;
export const INT_DELTA2: u32 = 6;
export const INT_HUFFMAN: u32 = 7;

// First byte of a sequence of floats.
export const FLOAT_RAW: u32 = 16;
export const FLOAT_CONSTANT: u32 = 17;
export const FLOAT_SCALED: u32 = 18;
export const FLOAT_XOR: u32 = 19;

// First byte of a sequence of booleans, or of the validity of rows.
export const BITS_PACKED: u32 = 32;
export const BITS_CONSTANT: u32 = 33;
export const BITS_RUNS: u32 = 34;

// First byte of a sequence of strings.
export const STRING_DICTIONARY: u32 = 48;
export const STRING_EVEN_FRAMES: u32 = 49;
export const STRING_FRAMES: u32 = 50;

// Log records are encoded fast, segments small: they are written once and read often.
export const EFFORT_FAST: i32 = 0;
export const EFFORT_SMALL: i32 = 1;

// Types of fields in tables of a batch.
export const TYPE_FLOAT: u32 = 0;
export const TYPE_INTEGER: u32 = 1;
export const TYPE_UNSIGNED: u32 = 2;
export const TYPE_STRING: u32 = 3;
export const TYPE_BOOLEAN: u32 = 4;

// Kinds of values in a column, for windows, the cache and the printer of rows. Booleans are bytes
// of 0 and 1.
export const VALUE_FLOAT: u32 = 0;
export const VALUE_INTEGER: u32 = 1;
export const VALUE_UNSIGNED: u32 = 2;
export const VALUE_BOOLEAN: u32 = 3;
export const VALUE_TIME: u32 = 4;
export const VALUE_TEXT: u32 = 5;
export const VALUE_EPOCH: u32 = 6;

// Results that are wanted of windows, as bits. `mean` keeps the upper half of a sum of integers, so
// that means are right beyond 64 bits.
export const WANTS_SUM: u32 = 1;
export const WANTS_EXTREMES: u32 = 2;
export const WANTS_MEAN: u32 = 4;

// Which rows tallies keep: the best ones, or the number of each value.
export const RANK_NONE: u32 = 0;
export const RANK_TOP: u32 = 1;
export const RANK_BOTTOM: u32 = 2;

// Orders of the values of a tally: by value, or by first or last time, then by value.
export const ORDER_KEY: u32 = 0;
export const ORDER_FIRST: u32 = 1;
export const ORDER_LAST: u32 = 2;

// Which rows a filter keeps.
export const COMPARE_EQUAL: u32 = 0;
export const COMPARE_LESS: u32 = 1;
export const COMPARE_AT_MOST: u32 = 2;

// Why the ingest kernel stopped.
export const EVENT_DONE: i32 = 0;
export const EVENT_LINE: i32 = 1;
export const EVENT_SHARD: i32 = 2;
export const EVENT_TABLE: i32 = 3;
export const EVENT_SERIES: i32 = 4;
export const EVENT_CONFLICT: i32 = 5;
export const EVENT_FULL: i32 = 6;
export const EVENT_MEMORY: i32 = 7;
export const EVENT_RETENTION: i32 = 8;

// Why reading rows stopped: see `RowStop`; or memory is exhausted.
export const ROWS_END: i32 = 0;
export const ROWS_NEW_SERIES: i32 = 1;
export const ROWS_OTHER: i32 = 2;
export const ROWS_FULL: i32 = 3;
export const ROWS_NO_MEMORY: i32 = -1;

// Kinds of fields in rows.
export const ROW_FLOAT: u32 = 0;
export const ROW_INTEGER: u32 = 1;
export const ROW_BOOLEAN: u32 = 2;
export const ROW_STRING: u32 = 3;

// Orders of ids: series by key, symbols by their texts, series by tags.
export const ORDER_SERIES: u32 = 0;
export const ORDER_SYMBOLS: u32 = 1;
export const ORDER_SERIES_BY_TAGS: u32 = 2;

// Dictionaries of tags.
export const TAG_VALUES: u32 = 0;
export const TAG_KEYS: u32 = 1;

// What can be asked of windows.
export const RESULT_START: u32 = 0;
export const RESULT_COUNT: u32 = 1;
export const RESULT_SUM: u32 = 2;
export const RESULT_MIN: u32 = 3;
export const RESULT_MIN_TIME: u32 = 4;
export const RESULT_MAX: u32 = 5;
export const RESULT_MAX_TIME: u32 = 6;
export const RESULT_FIRST: u32 = 7;
export const RESULT_FIRST_TIME: u32 = 8;
export const RESULT_LAST: u32 = 9;
export const RESULT_LAST_TIME: u32 = 10;
export const RESULT_MEAN: u32 = 11;
export const RESULT_SPREAD: u32 = 12;

/** Largest number of values in a block. */
export const BLOCK_VALUES_MAX: u32 = 4194304;
/** Space behind the end of a body, filled with newlines: loops read that far. */
export const BODY_SLACK_BYTES: u32 = 64;
/** Largest number of fields in a point. */
export const POINT_FIELDS_MAX: u32 = 65536;
/**
 * Largest number of rows of a cached column, which takes an eighth of a slab at most, so that
 * little space is left unused at the end.
 */
export const CACHED_ROWS_MAX: u32 = 4096;
/** Size of the header before the values of a cached column. */
export const CACHED_HEADER_BYTES: u32 = 32;
/**
 * Largest number of words that `splitSeries` returns. The largest series takes two, and two per tag
 * of three bytes.
 */
export const SPLIT_WORDS: u32 = 131072;
/**
 * Size of the longest key that is split while rows are read; longer ones are left to the caller.
 */
export const EXPECTED_KEY_MAX: u32 = 16384;
/** Means no series, no text or no name. */
export const NO_ID: u32 = 4294967295;
/** Number of negative powers of ten in the table at `decimalPowers`. */
export const DECIMAL_POWERS: i32 = 20;
/** Exponent of the first power of ten at `floatPowers`. */
export const FLOAT_POWER_LEAST: i32 = -292;
/** Exponent of the last power of ten at `floatPowers`. */
export const FLOAT_POWER_MOST: i32 = 324;

// A text in linear memory.
export const REFERENCE_ADDRESS: usize = 0;
export const REFERENCE_LENGTH: usize = 4;
export const REFERENCE_BYTES: usize = 8;

// A window of an accumulator. Times and counts are integers, values have the type of the
// accumulator. `sumHigh` has the upper 64 bits of a sum of integers.
export const WINDOW_START: usize = 0;
export const WINDOW_COUNT: usize = 8;
export const WINDOW_SUM: usize = 16;
export const WINDOW_MIN: usize = 24;
export const WINDOW_MIN_TIME: usize = 32;
export const WINDOW_MAX: usize = 40;
export const WINDOW_MAX_TIME: usize = 48;
export const WINDOW_FIRST: usize = 56;
export const WINDOW_FIRST_TIME: usize = 64;
export const WINDOW_LAST: usize = 72;
export const WINDOW_LAST_TIME: usize = 80;
export const WINDOW_SUM_HIGH: usize = 88;
export const WINDOW_BYTES: usize = 96;

// A window of a group of tallies, and the address of its tally.
export const TALLIED_WINDOW_START: usize = 0;
export const TALLIED_WINDOW_TALLY: usize = 8;
export const TALLIED_WINDOW_BYTES: usize = 16;

// A row among the best ones: its value as a word (in a heap, its key) and its time.
export const RANKED_ROW_VALUE: usize = 0;
export const RANKED_ROW_TIME: usize = 8;
export const RANKED_ROW_BYTES: usize = 16;

// A column to print: its kind (`VALUE_KINDS`), addresses (`valid` is 0 when there are no nulls),
// and the nanoseconds per unit of an epoch.
export const JSON_COLUMN_KIND: usize = 0;
export const JSON_COLUMN_VALUES: usize = 4;
export const JSON_COLUMN_VALID: usize = 8;
export const JSON_COLUMN_POSITIONS: usize = 12;
export const JSON_COLUMN_TEXTS: usize = 16;
export const JSON_COLUMN_UNIT: usize = 24;
export const JSON_COLUMN_BYTES: usize = 32;

// Scratch areas, see abi/areas.mjs.
/** Ids of four bytes as integers of eight. Of blocks: call. */
export const AREA_WIDE_IDS: u32 = 9;
/** Floats as integers. Of floats: call. */
export const AREA_SCALED: u32 = 10;
/** Rows of floats that are not scaled. Of floats: call. */
export const AREA_EXCEPTIONS: u32 = 11;
/** Values as symbols of a code. Of huffman: call. */
export const AREA_SYMBOLS: u32 = 12;
/** Hash table and distinct texts. Of strings: result. */
export const AREA_DICTIONARY: u32 = 13;
/** Codes of texts, row by row. Of strings: result. */
export const AREA_CODES: u32 = 14;
/** Lengths or offsets of distinct texts. Of strings: result. */
export const AREA_LENGTHS: u32 = 15;
/** Distinct texts. Of strings: result. */
export const AREA_TEXTS: u32 = 16;
/** Distinct texts, compressed. Of strings: call. */
export const AREA_PACKED_TEXTS: u32 = 17;
/** Where packed frames begin. Of text-frames: result. */
export const AREA_FRAMES: u32 = 18;
/** Filters of frames. Of text-frames: result. */
export const AREA_FILTERS: u32 = 19;
/** A frame as an LZ4 block. Of text-pack: call. */
export const AREA_COMPRESSED_FRAME: u32 = 20;
/** Sizes of frames that are written. Of text-pack: call. */
export const AREA_FRAME_SIZES: u32 = 21;
/** Filters that are written. Of text-pack: call. */
export const AREA_FRAME_FILTERS: u32 = 22;
/** Bytes of an LZ4 block by kind. Of sequences: call. */
export const AREA_SEQUENCES: u32 = 23;
/** Values of a cached column in full width. Of cached: call. */
export const AREA_EXPANDED: u32 = 24;
/** Times of a cached column in full width. Of cached-windows: call. */
export const AREA_EXPANDED_TIMES: u32 = 25;
/** Windows of the rows that are being added. Of windows: call. */
export const AREA_WINDOW_RUN: u32 = 26;
/** Times of a cached column. Of tally-rows: call. */
export const AREA_TALLIED_TIMES: u32 = 27;
/** Values of a cached column. Of tally-rows: call. */
export const AREA_TALLIED_VALUES: u32 = 28;
/** A scope and a name that is looked up. Of names: call. */
export const AREA_SCOPED_NAME: u32 = 29;
/** Split series. Of series-list: result. */
export const AREA_TAG_WORDS: u32 = 30;
/** A part of a key without its escapes. Of series-list: call. */
export const AREA_KEY_PART: u32 = 31;
/** The key of an entry of a list. Of series-list: call. */
export const AREA_LIST_KEY: u32 = 32;
/** Where the values of each row or column of a sparse table begin. Of sparse-rows: call. */
export const AREA_SPARSE_STARTS: u32 = 33;
/** The values of a sparse table by column, and one column with a place per row. Of sparse-rows: call. */
export const AREA_SPARSE_COLUMN: u32 = 34;
/** How many rows each id has. Of row-order: call. */
export const AREA_ID_COUNTS: u32 = 35;
export const AREA_COUNT: u32 = 36;
