import { expect, test } from 'vitest';

import { lonelyPlaces } from './lonely.ts';

test.each([
  ['nothing', [], []],
  ['a line', [1, 2, 3], []],
  ['one value', [1], [0]],
  ['values apart', [null, 1, null, null, 2, null, 3], [1, 4, 6]],
  ['a line between gaps', [null, 1, 2, null, 3, 4], []],
  ['times that another series has', [1, undefined, null, undefined, 2, undefined, 3], [0]],
])('of %s', (_, values, expected) => {
  expect(lonelyPlaces(values)).toEqual(expected);
});
