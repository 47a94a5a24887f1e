// Numbers that both sides of the kernels' border use. A group of values becomes constants of
// assembly/ (PREFIX_NAME) and one object of src/; a single number has the same name on both sides.

/** Groups of values. `type` is that of assembly/. */
export const GROUPS = [
  {
    name: 'CODEC_ERRORS',
    prefix: 'ERROR',
    type: 'i32',
    doc: 'Negative results of exports that read bytes.',
    values: { truncated: -1, encoding: -2, value: -3, 'too-large': -4 },
  },
  {
    name: 'BLOCK_KINDS',
    prefix: 'BLOCK',
    type: 'u32',
    doc: 'What a block holds (docs/formats/encodings.md).',
    values: { integers: 0, floats: 1, bits: 2 },
  },
  {
    name: 'INTEGER_ENCODINGS',
    prefix: 'INT',
    type: 'u32',
    doc: 'First byte of a sequence of integers.',
    values: { raw: 1, constant: 2, step: 3, packed: 4, delta: 5, delta2: 6, huffman: 7 },
  },
  {
    name: 'FLOAT_ENCODINGS',
    prefix: 'FLOAT',
    type: 'u32',
    doc: 'First byte of a sequence of floats.',
    values: { raw: 0x10, constant: 0x11, scaled: 0x12, xor: 0x13 },
  },
  {
    name: 'BIT_ENCODINGS',
    prefix: 'BITS',
    type: 'u32',
    doc: 'First byte of a sequence of booleans, or of the validity of rows.',
    values: { packed: 0x20, constant: 0x21, runs: 0x22 },
  },
  {
    name: 'STRING_ENCODINGS',
    prefix: 'STRING',
    type: 'u32',
    doc: 'First byte of a sequence of strings.',
    values: { dictionary: 0x30, evenFrames: 0x31, frames: 0x32 },
  },
  {
    name: 'EFFORTS',
    prefix: 'EFFORT',
    type: 'i32',
    doc: 'Log records are encoded fast, segments small: they are written once and read often.',
    values: { fast: 0, small: 1 },
  },
  {
    name: 'FIELD_TYPES',
    prefix: 'TYPE',
    type: 'u32',
    doc: 'Types of fields in tables of a batch.',
    values: { float: 0, integer: 1, unsigned: 2, string: 3, boolean: 4 },
  },
  {
    name: 'VALUE_KINDS',
    prefix: 'VALUE',
    type: 'u32',
    doc: 'Kinds of values in a column, for windows, the cache and the printer of rows. Booleans are bytes of 0 and 1.',
    values: { float: 0, integer: 1, unsigned: 2, boolean: 3, time: 4, text: 5, epoch: 6 },
  },
  {
    name: 'WINDOW_WANTS',
    prefix: 'WANTS',
    type: 'u32',
    doc: 'Results that are wanted of windows, as bits. `mean` keeps the upper half of a sum of integers, so that means are right beyond 64 bits.',
    values: { sum: 1, extremes: 2, mean: 4 },
  },
  {
    name: 'RANKS',
    prefix: 'RANK',
    type: 'u32',
    doc: 'Which rows tallies keep: the best ones, or the number of each value.',
    values: { none: 0, top: 1, bottom: 2 },
  },
  {
    name: 'TALLY_ORDERS',
    prefix: 'ORDER',
    type: 'u32',
    doc: 'Orders of the values of a tally: by value, or by first or last time, then by value.',
    values: { key: 0, first: 1, last: 2 },
  },
  {
    name: 'COMPARISONS',
    prefix: 'COMPARE',
    type: 'u32',
    doc: 'Which rows a filter keeps.',
    values: { equal: 0, less: 1, atMost: 2 },
  },
  {
    name: 'INGEST_EVENTS',
    prefix: 'EVENT',
    type: 'i32',
    doc: 'Why the ingest kernel stopped.',
    values: {
      /** The end of the body. */
      done: 0,
      /** The line parser has to read the line. */
      line: 1,
      /** No shard of the batch has the staged time. */
      shard: 2,
      /** The shard needs a table for the staged measurement. */
      table: 3,
      /** May the staged series be created? */
      series: 4,
      /** The point was dropped: a field has another type. */
      conflict: 5,
      /** The batch must end here. */
      full: 6,
      /** Linear memory cannot grow; the staged point was not appended. */
      memory: 7,
      /** The time of the staged point is not accepted. */
      retention: 8,
    },
  },
  {
    name: 'ROW_STOPS',
    prefix: 'ROWS',
    type: 'i32',
    doc: 'Why reading rows stopped: see `RowStop`; or memory is exhausted.',
    values: { end: 0, 'new-series': 1, other: 2, full: 3, 'no-memory': -1 },
  },
  {
    name: 'ROW_KINDS',
    prefix: 'ROW',
    type: 'u32',
    doc: 'Kinds of fields in rows.',
    values: { float: 0, integer: 1, boolean: 2, string: 3 },
  },
  {
    name: 'ID_ORDERS',
    prefix: 'ORDER',
    type: 'u32',
    doc: 'Orders of ids: series by key, symbols by their texts, series by tags.',
    values: { series: 0, symbols: 1, seriesByTags: 2 },
  },
  {
    name: 'TAG_DICTIONARIES',
    prefix: 'TAG',
    type: 'u32',
    doc: 'Dictionaries of tags.',
    values: { values: 0, keys: 1 },
  },
];

/** Single numbers: limits, and values that mean `none`. */
export const NUMBERS = [
  {
    name: 'BLOCK_VALUES_MAX',
    type: 'u32',
    value: 1 << 22,
    doc: 'Largest number of values in a block.',
  },
  {
    name: 'BODY_SLACK_BYTES',
    type: 'u32',
    value: 64,
    doc: 'Space behind the end of a body, filled with newlines: loops read that far.',
  },
  {
    name: 'POINT_FIELDS_MAX',
    type: 'u32',
    value: 65_536,
    doc: 'Largest number of fields in a point.',
  },
  {
    name: 'CACHED_ROWS_MAX',
    type: 'u32',
    value: 4096,
    doc: 'Largest number of rows of a cached column, which takes an eighth of a slab at most, so that little space is left unused at the end.',
  },
  {
    name: 'CACHED_HEADER_BYTES',
    type: 'u32',
    value: 32,
    doc: 'Size of the header before the values of a cached column.',
  },
  {
    name: 'SPLIT_WORDS',
    type: 'u32',
    value: 1 << 17,
    doc: 'Largest number of words that `splitSeries` returns. The largest series takes two, and two per tag of three bytes.',
  },
  {
    name: 'EXPECTED_KEY_MAX',
    type: 'u32',
    value: 16_384,
    doc: 'Size of the longest key that is split while rows are read; longer ones are left to the caller.',
  },
  { name: 'NO_ID', type: 'u32', value: 0xffffffff, doc: 'Means no series, no text or no name.' },
  {
    name: 'DECIMAL_POWERS',
    type: 'i32',
    value: 20,
    doc: 'Number of negative powers of ten in the table at `decimalPowers`.',
  },
  {
    name: 'FLOAT_POWER_LEAST',
    type: 'i32',
    value: -292,
    doc: 'Exponent of the first power of ten at `floatPowers`.',
  },
  {
    name: 'FLOAT_POWER_MOST',
    type: 'i32',
    value: 324,
    doc: 'Exponent of the last power of ten at `floatPowers`.',
  },
];
