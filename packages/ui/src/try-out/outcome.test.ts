// Lines of a try-out as tables and charts.
import { expect, test } from 'vitest';
import { Outcome, rowsOf, seriesOf } from './outcome.ts';

const point = (seconds: number, host: string, fields: object): object => ({
  kind: 'point',
  node: 'eval2',
  group: `host=${host}`,
  name: 'cpu',
  time: `2026-01-01T00:00:${String(seconds).padStart(2, '0')}Z`,
  tags: { host },
  fields,
});

test('points are kept by node, with the moments at which they left it', () => {
  const outcome = new Outcome();
  outcome.add({ kind: 'task', start: '2026-01-01T00:00:00Z', nodes: [], dot: '', warnings: [] });
  outcome.add(point(10, 'b', { usage: 2 }));
  outcome.add(point(10, 'a', { usage: 1 }));
  outcome.add({
    kind: 'batch',
    node: 'window3',
    group: '',
    name: 'cpu',
    time: '2026-01-01T00:01:00Z',
    points: [
      { time: '2026-01-01T00:00:10Z', tags: {}, fields: { usage: 1 } },
      { time: '2026-01-01T00:00:20Z', tags: {}, fields: { usage: 2 } },
    ],
  });
  outcome.add({ kind: 'clock', time: '2026-01-01T00:02:00Z' });
  outcome.add({ kind: 'log', level: 'error', node: 'eval2', message: 'no', context: {} });

  expect(outcome.moments()).toEqual([10_000, 60_000].map((ms) => Date.UTC(2026, 0) + ms));
  expect(outcome.points.get('window3')?.map(({ atMs }) => atMs)).toEqual([
    Date.UTC(2026, 0) + 60_000,
    Date.UTC(2026, 0) + 60_000,
  ]);
  expect(outcome.logs[0]?.atMs).toBe(Date.UTC(2026, 0) + 120_000);
  const points = outcome.points.get('eval2') ?? [];
  expect(rowsOf(points)).toEqual({
    columns: ['time', 'host', 'usage'],
    rows: [
      ['2026-01-01T00:00:10Z', 'b', 2],
      ['2026-01-01T00:00:10Z', 'a', 1],
    ],
  });
  expect(seriesOf(points).map(({ tags, rows }) => [tags['host'], rows.length])).toEqual([
    ['b', 1],
    ['a', 1],
  ]);
});

test('missing values of a node are empty, and a chart goes forward in time', () => {
  const outcome = new Outcome();
  outcome.add(point(20, 'a', { usage: 2 }));
  outcome.add(point(10, 'a', { idle: 5 }));
  const points = outcome.points.get('eval2') ?? [];

  expect(rowsOf(points).rows).toEqual([
    ['2026-01-01T00:00:20Z', 'a', null, 2],
    ['2026-01-01T00:00:10Z', 'a', 5, null],
  ]);
  expect(seriesOf(points)[0]?.rows.map(([time]) => time)).toEqual([
    '2026-01-01T00:00:10Z',
    '2026-01-01T00:00:20Z',
  ]);
});
