import { expect, test } from 'vitest';

import { byteSlice } from './text.ts';

test('a part of a text keeps the byte order mark that it begins with', () => {
  expect(byteSlice('ab\uFEFFcé', 2, 8)).toBe('\uFEFFcé');
});
