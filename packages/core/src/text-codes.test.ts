// Texts have the code of their first occurrence, whatever their length.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { TextCodes } from './text-codes.ts';
import { hashWholeText } from './text-hash.ts';

/** Short and long texts of few lengths, so that some are equal and many nearly so. */
const text = fc
  .record({
    length: fc.constantFrom(0, 3, 255, 257, 8192, 8193, 20_000),
    end: fc.constantFrom('', 'a', 'b', 'é', '\u{1F600}', '\uD800'),
    filler: fc.constantFrom('x', 'ü'),
  })
  .map(({ length, end, filler }) => filler.repeat(length) + end);

test('equal texts have equal codes, different ones different codes in the order of appearance', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 40 }), (texts) => {
      const codes = new TextCodes();
      const coded = texts.map((each) => codes.code(each));

      const different = [...new Set(texts)];
      expect(codes.texts).toEqual(different);
      expect(codes.size).toBe(different.length);
      expect(coded).toEqual(texts.map((each) => different.indexOf(each)));
    }),
  );
});

test('long texts of one length have different hashes', () => {
  const hashes = new Set<number>();
  for (let i = 0; i < 2000; i++) hashes.add(hashWholeText(7, `${'x'.repeat(20_000)}${1000 + i}`));

  expect(hashes.size).toBeGreaterThan(1990);
});
