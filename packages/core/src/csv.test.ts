import { expect, test } from 'vitest';

import { csvCell } from './csv.ts';

test.each([
  ['plain text', 'plain text'],
  ['', ''],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two\nlines', '"two\nlines"'],
  ['return\r', '"return\r"'],
  [' leading blank', '" leading blank"'],
  ['\\.', '"\\."'],
])('%j is the cell %j', (text, cell) => {
  expect(csvCell(text)).toBe(cell);
});
