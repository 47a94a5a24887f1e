// Interned series: one object each, also beyond the size of the table of stable ids and over
// epochs.
import { expect, test } from 'vitest';
import type { SeriesRef } from '../point-batch.ts';
import { SeriesTable } from './series.ts';

const ref = (host: string, stableId?: number): SeriesRef => ({
  name: 'm',
  tagKeys: ['host'],
  tagValues: [host],
  stableId,
});

test.each([
  ['in a row', [7, 8, 9]],
  ['with gaps', [7, 900, 30]],
  ['from before the first one', [7, 3, 1]],
  ['far away', [7, 5_000_000, 9_000_000]],
])('series with ids %s are found again', (_what, ids) => {
  const table = new SeriesTable();

  const first = ids.map((id) => table.intern(ref(`h${id}`, id)));
  const again = ids.map((id) => table.intern(ref(`h${id}`, id)));

  expect(new Set(first).size).toBe(ids.length);
  again.forEach((series, i) => expect(series).toBe(first[i]));
  expect(first.map(({ values }) => values[0])).toEqual(ids.map((id) => `h${id}`));
});

test('series of the write path and the same series by key have the same tags', () => {
  const table = new SeriesTable();

  expect(table.intern(ref('a')).tags).toEqual(table.intern(ref('a', 4)).tags);
});

test('a full table starts over, and what comes then is found', () => {
  const table = new SeriesTable(4);
  for (let i = 0; i < 6; i++) table.intern(ref(`h${i}`, i));

  expect(table.epoch).toBe(1);
  expect(table.intern(ref('h5', 5))).toBe(table.intern(ref('h5', 5)));
  // Its id is from before the epoch's first one.
  expect(table.intern(ref('h0', 0)).values).toEqual(['h0']);
});
