import { expect, test } from 'vitest';

import { stopsInString } from './lines.ts';

test.each([
  ['m f=1 1', false],
  ['m f="a', true],
  ['m f="a" 1', false],
  ['m f="a\\" b', true],
  ['m f="a\\\\" 1', false],
  ['m,t="x f=1 1', false],
  ['m"x f=1 1', false],
  ['m,t=a\\ "b f="c" 1', false],
  ['m,t=a\\ b f="c d', true],
  ['m f="a",g="b', true],
  ['', false],
])('%s stops inside of a string: %s', (line, expected) => {
  expect(stopsInString(line)).toBe(expected);
});
