// Rows of queries as points of a recording.
import { expect, test } from 'vitest';
import { pointsOfSeries } from './points.ts';

const SOURCE = { database: 'd', retentionPolicy: 'r' };

test('a tag that a series lacks is absent, as it is in points of the stream', () => {
  const columns = ['time', 'v'];
  const series = [
    { name: 'm', tags: { h: 'a', k: '' }, columns, values: [[2n, 1]] },
    { name: 'm', tags: { h: '', k: 'x' }, columns, values: [[1n, 2]] },
  ];

  expect(pointsOfSeries(series, SOURCE).map(({ line }) => line)).toEqual([
    'm,k=x v=2 1',
    'm,h=a v=1 2',
  ]);
});
