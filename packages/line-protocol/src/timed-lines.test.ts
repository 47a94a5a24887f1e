import { expect, test } from 'vitest';

import { countTimedLines } from './timed-lines.ts';

test('lines are counted when every one of them has its time', () => {
  const count = (text: string) => countTimedLines(new TextEncoder().encode(text));
  expect(count('m f=1 1\nm f=1i -5\n\n')).toBe(2);
  expect(count('m f=1 1\nm f=1')).toBeUndefined();
  expect(count('m f=1')).toBeUndefined();
  expect(count('m f=1i')).toBeUndefined();
  expect(count('m f=1 1 ')).toBeUndefined();
  expect(count('m f="a 1" 1')).toBeUndefined();
  expect(count('# c 1\nm f=1 1')).toBeUndefined();
});
