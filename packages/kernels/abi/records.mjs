// Records that one side lays out in linear memory and the other one reads. A field becomes its
// offset, the record its size: `RECORD_FIELD` and `RECORD_BYTES` in assembly/, `RECORD.field` and
// `RECORD_BYTES` in src/. Fields are aligned as their type.

export const RECORDS = [
  {
    name: 'REFERENCE',
    doc: 'A text in linear memory.',
    fields: { address: 'u32', length: 'u32' },
  },
  {
    name: 'WINDOW',
    doc: 'One window of an accumulator. Times and counts are integers, values as the accumulator has them; of a sum of integers `sumHigh` has the upper 64 bits.',
    fields: {
      start: 'i64',
      count: 'i64',
      sum: 'i64',
      min: 'i64',
      minTime: 'i64',
      max: 'i64',
      maxTime: 'i64',
      first: 'i64',
      firstTime: 'i64',
      last: 'i64',
      lastTime: 'i64',
      sumHigh: 'i64',
    },
  },
  {
    name: 'JSON_COLUMN',
    doc: 'A column that is printed: a `VALUE_KINDS`, addresses (`valid` is 0 when all are), and what an epoch counts.',
    fields: {
      kind: 'u32',
      values: 'u32',
      valid: 'u32',
      positions: 'u32',
      texts: 'u32',
      unit: 'i64',
    },
  },
];

/**
 * What `copyResult` gives of a window: words of its record by their number, and what it works out
 * itself.
 */
export const WINDOW_RESULTS = [
  ...Object.keys(RECORDS.find(({ name }) => name === 'WINDOW').fields).filter(
    (name) => name !== 'sumHigh',
  ),
  'mean',
  'spread',
];
