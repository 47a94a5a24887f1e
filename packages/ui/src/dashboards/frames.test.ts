import { expect, test } from 'vitest';

import { gridOf, heatOf, histogramOf, lanesOf, linesOf } from './frames.ts';

const at = (second: number): string => new Date(second * 1000).toISOString();
const statement = (
  series: readonly {
    readonly tags?: Readonly<Record<string, string>>;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly (string | number | null)[])[];
  }[],
  label = '',
) => ({
  id: 0,
  label,
  series: series.map((one) => ({ name: 'm', tags: {}, ...one })),
  rowCount: 0,
  messages: [],
  diagnostics: [],
});
const span = { fromMs: 0, toMs: 100_000 };
const columns = ['time', 'v'];

test('the label of a query stands for its lines', () => {
  const rows = [[at(1), 2]];
  const hosts = ['a', 'b'].map((host) => ({ tags: { host }, columns, rows }));
  const labels = (of: Parameters<typeof linesOf>[0]) =>
    linesOf(of).series.map(({ label }) => label);
  expect(labels([statement([{ columns, rows }], 'Load')])).toEqual(['Load']);
  expect(labels([statement(hosts, 'Load')])).toEqual(['Load host=a', 'Load host=b']);
  expect(labels([statement(hosts), statement(hosts)])).toEqual([
    'v host=a',
    'v host=b',
    'v host=a (2)',
    'v host=b (2)',
  ]);
});

test('a histogram counts each value once', () => {
  const rows = [0, 1, 2, 2, 10].map((value, i) => [at(i), value]);
  const buckets = histogramOf(linesOf([statement([{ columns, rows }])]), 5);
  expect(buckets.map(({ count }) => count)).toEqual([2, 2, 0, 0, 1]);
  expect([buckets[0]?.from, buckets.at(-1)?.to]).toEqual([0, 10]);
  const same = linesOf([
    statement([
      {
        columns,
        rows: [
          [at(0), 3],
          [at(1), 3],
        ],
      },
    ]),
  ]);
  expect(histogramOf(same, 5)).toEqual([{ from: 3, to: 4, count: 2 }]);
  expect(histogramOf({ series: [] }, 5)).toEqual([]);
});

test('a heat map counts by time and value', () => {
  const rows = [
    [at(1), 0],
    [at(1), 0],
    [at(99), 10],
    [at(100), 10],
  ];
  const heat = heatOf(linesOf([statement([{ columns, rows }])]), span, { columns: 2, rows: 2 });
  expect(heat).toEqual({
    counts: [
      [2, 0],
      [0, 2],
    ],
    max: 2,
    low: 0,
    high: 10,
  });
});

test('a state lasts until there is another one', () => {
  const rows = [
    [at(0), 'ok'],
    [at(5), 'ok'],
    [at(9), null],
    [at(10), 'bad'],
  ];
  expect(lanesOf([statement([{ tags: { host: 'a' }, columns, rows }])], span)).toEqual([
    {
      label: 'a',
      stretches: [
        { fromMs: 0, toMs: 10_000, text: 'ok' },
        { fromMs: 10_000, toMs: 100_000, text: 'bad' },
      ],
    },
  ]);
});

test('rows of several series are one table', () => {
  const a = { tags: { host: 'a' }, columns, rows: [[at(0), 1]] };
  const b = { tags: { host: 'b' }, columns: ['time', 'w'], rows: [[at(1), 2]] };
  expect(gridOf([statement([a, b])])).toEqual({
    columns: ['time', 'host', 'v', 'w'],
    rows: [
      [at(0), 'a', 1, null],
      [at(1), 'b', null, 2],
    ],
  });
});
