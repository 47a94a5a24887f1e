import { expect, test } from 'vitest';

import { formatSeconds } from './progress.ts';

test.each([
  [0, '0s'],
  [59.9, '59s'],
  [75, '1m 15s'],
  [3600, '1h 0m'],
  [90_061, '25h 1m'],
  // The bar's text while the total is unknown.
  ['NULL', ''],
  ['INF', ''],
  [Number.POSITIVE_INFINITY, ''],
  [Number.NaN, ''],
])('%s seconds are %j', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});
