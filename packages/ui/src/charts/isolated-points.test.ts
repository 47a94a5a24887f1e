import { expect, test } from 'vitest';

import { isolatedPoints } from './isolated-points.ts';

test.each([
  ['nothing', [], []],
  ['a line', [1, 2, 3], []],
  ['one value', [1], [0]],
  ['values apart', [null, 1, null, null, 2, null, 3], [1, 4, 6]],
  ['a line between gaps', [null, 1, 2, null, 3, 4], []],
  ['times that another series has', [1, undefined, null, undefined, 2, undefined, 3], [0]],
])('finds the isolated points of %s', (_, values, expected) => {
  expect(isolatedPoints(values)).toEqual(expected);
});
