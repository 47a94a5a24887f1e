import { expect, test } from 'vitest';

import { Deletion } from './deletion.ts';

const ALL = { start: 0n, end: 1n };

test('parts of a delete become one ascending list for each measurement', () => {
  const deletion = new Deletion(ALL);
  expect(deletion.isEmpty).toBe(true);
  for (const [measurementId, ids] of [
    [1, [3, 5]],
    [2, [4]],
    [1, [7, 9]],
    [1, [8, 6]],
  ] as const) {
    deletion.add({ measurementId, series: Uint32Array.from(ids) });
  }

  expect(deletion.isEmpty).toBe(false);
  expect(deletion.rows).toEqual([
    { measurementId: 1, series: Uint32Array.of(3, 5, 6, 7, 8, 9) },
    { measurementId: 2, series: Uint32Array.of(4) },
  ]);
});

test('a measurement that loses all its series loses those of other parts with them', () => {
  const deletion = new Deletion(ALL);
  for (const series of [Uint32Array.of(3), undefined, Uint32Array.of(4)]) {
    deletion.add({ measurementId: 1, series });
  }

  expect(deletion.rows).toEqual([{ measurementId: 1, series: undefined }]);
});
