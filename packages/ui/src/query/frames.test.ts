import { expect, test } from 'vitest';

import { chartOf } from './frames.ts';

const series = (more: object) => ({
  name: 'room',
  tags: {},
  columns: ['time', 'celsius'],
  rows: [],
  ...more,
});

const shown = (statement: Parameters<typeof chartOf>[0]) =>
  chartOf(statement).series.map(({ label, times, values }) => [label, [...times], [...values]]);

test('each column of numbers of each series is a line; gaps stay', () => {
  const kitchen = series({
    tags: { name: 'kitchen' },
    columns: ['time', 'mean', 'note'],
    rows: [
      ['1970-01-01T00:00:01Z', 1, 'a'],
      ['1970-01-01T00:00:02Z', null, null],
      ['1970-01-01T00:00:03.5Z', 3n, 'b'],
    ],
  });

  expect(shown({ series: [kitchen] })).toEqual([
    ['mean name=kitchen', [1000, 2000, 3500], [1, NaN, 3]],
  ]);
});

test('rows that another field has written do not interrupt a line', () => {
  const both = series({
    columns: ['time', 'a', 'b'],
    rows: [
      ['1970-01-01T00:00:01Z', 1, null],
      ['1970-01-01T00:00:02Z', null, 5],
      ['1970-01-01T00:00:03Z', 2, 6],
    ],
  });

  expect(shown({ series: [both] })).toEqual([
    ['a', [1000, 3000], [1, 2]],
    ['b', [2000, 3000], [5, 6]],
  ]);
});

test('several measurements are told apart, and answers that go back in time are turned', () => {
  const rows = [
    ['1970-01-01T00:00:02Z', 2],
    ['1970-01-01T00:00:01Z', 1],
  ];

  expect(shown({ series: [series({ rows }), series({ name: 'street', rows })] })).toEqual([
    ['room.celsius', [1000, 2000], [1, 2]],
    ['street.celsius', [1000, 2000], [1, 2]],
  ]);
  expect(shown({ series: [series({ columns: ['name'], rows: [['x']] })] })).toEqual([]);
});
