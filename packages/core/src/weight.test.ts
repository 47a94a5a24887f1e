// Memory limits count texts by their bytes, wherever they are.
import { expect, test } from 'vitest';

import type { Column } from './column.ts';
import { textsOf } from './texts.ts';
import { columnBytes, rowsBytes, tagsBytes, textBytes, textsBytes } from './weight.ts';

const ASCII = 'x'.repeat(1000);
const WIDE = 'ä'.repeat(1000);
const words = (texts: string[]): Column => ({
  type: 'string',
  codes: new Uint32Array(10),
  texts: textsOf(texts),
  valid: undefined,
});

test('ASCII counts once, other characters with the bytes of their UTF-8', () => {
  expect(textBytes(ASCII)).toBeLessThan(1100);
  expect(textBytes(WIDE)).toBeGreaterThan(2000);
  expect(textBytes(WIDE)).toBeLessThan(2100);
});

test('a list of texts counts all of them', () => {
  const texts = textsOf(Array.from({ length: 100 }, () => ASCII));

  expect(textsBytes(texts)).toBeGreaterThan(100_000);
  expect(textsBytes(texts)).toBeLessThan(101_000);
});

test.each([
  ['a column', columnBytes(words([ASCII, WIDE])), columnBytes(words(['', '']))],
  [
    'rows',
    rowsBytes(new BigInt64Array(10), [undefined, words([ASCII, WIDE])]),
    rowsBytes(new BigInt64Array(10), [undefined, words(['', ''])]),
  ],
  [
    'the tags of a series or a group',
    tagsBytes(
      new Map([
        ['a', ASCII],
        ['b', WIDE],
      ]),
    ),
    tagsBytes(
      new Map([
        ['a', ''],
        ['b', ''],
      ]),
    ),
  ],
])('%s counts its texts', (_, full, empty) => {
  expect(full - empty).toBe(3000);
});
