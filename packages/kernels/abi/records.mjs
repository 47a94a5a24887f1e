// Records in linear memory that one side writes and the other one reads. Both sides get the offset
// of each field and the size of the record: `RECORD_FIELD` and `RECORD_BYTES` in assembly/,
// `RECORD.field` and `RECORD_BYTES` in src/. Fields are aligned to their size.

export const RECORDS = [
  {
    name: 'REFERENCE',
    doc: 'A text in linear memory.',
    fields: { address: 'u32', length: 'u32' },
  },
  {
    name: 'WINDOW',
    doc: 'A window of an accumulator. Times and counts are integers, values have the type of the accumulator. `sumHigh` has the upper 64 bits of a sum of integers.',
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
    name: 'TALLIED_WINDOW',
    doc: 'A window of a group of tallies, and the address of its tally.',
    fields: { start: 'i64', tally: 'i64' },
  },
  {
    name: 'RANKED_ROW',
    doc: 'A row among the best ones: its value as a word (in a heap, its key) and its time.',
    fields: { value: 'i64', time: 'i64' },
  },
  {
    name: 'JSON_COLUMN',
    doc: 'A column to print: its kind (`VALUE_KINDS`), addresses (`valid` is 0 when there are no nulls), and the nanoseconds per unit of an epoch.',
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

/** Results of `copyResult`: words of the record by number, then what it computes from them. */
export const WINDOW_RESULTS = [
  ...Object.keys(RECORDS.find(({ name }) => name === 'WINDOW').fields).filter(
    (name) => name !== 'sumHigh',
  ),
  'mean',
  'spread',
];
