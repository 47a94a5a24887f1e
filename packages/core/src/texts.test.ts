import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { compactTexts, longestText, withEmptyTexts } from './compact-texts.ts';
import { columnValue } from './column.ts';
import type { StringColumn } from './column.ts';
import { compareBytes } from './tags.ts';
import {
  areSameTexts,
  compareTexts,
  concatTexts,
  stringsOf,
  textAt,
  TextBuilder,
  textBytesAt,
  textsOf,
} from './texts.ts';

/** Texts of all planes, with what is easily lost: marks, zeros, quotes, long ones. */
const TEXT = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', '\uFEFF', '\uFEFFx', '\0', '"', '\\', '\u{10FFFF}', 'level', 'ä'),
  fc.constantFrom('x'.repeat(600), 'é'.repeat(600)),
);
const TEXTS = fc.array(TEXT, { maxLength: 30 });

test('texts come back as they were', () => {
  fc.assert(
    fc.property(TEXTS, TEXTS, (first, second) => {
      expect(stringsOf(textsOf(first))).toEqual(first);
      const both = concatTexts([textsOf(first), textsOf(second)]);
      expect(stringsOf(both)).toEqual([...first, ...second]);
    }),
  );
});

test('a lone surrogate becomes a replacement character', () => {
  expect(stringsOf(textsOf(['a\ud800', '\udc00']))).toEqual(['a\ufffd', '\ufffd']);
});

test('texts are ordered and compared by their bytes', () => {
  fc.assert(
    fc.property(TEXT, TEXT, (left, right) => {
      const [a, b] = [textsOf(['', left]), textsOf([right])];

      expect(Math.sign(compareTexts(a, 1, b, 0))).toBe(Math.sign(compareBytes(left, right)));
      expect(areSameTexts(a, 1, b, 0)).toBe(left === right);
    }),
  );
});

test('texts that were handed out stay when others are added', () => {
  fc.assert(
    fc.property(TEXTS, TEXTS, (first, second) => {
      const given = textsOf(first);
      const builder = TextBuilder.of(given);
      const before = builder.texts;
      const added = textsOf(second);
      const whole = builder.addAll(added);
      const single = second.map((text, i) => [
        builder.add(text),
        builder.addFrom(added, i),
        builder.addBytes(textBytesAt(added, i)),
      ]);

      expect(stringsOf(given)).toEqual(first);
      expect(stringsOf(before)).toEqual(first);
      expect(whole).toBe(first.length);
      const { texts } = builder;
      second.forEach((text, i) => {
        expect(textAt(texts, whole + i)).toBe(text);
        for (const index of single[i]!) expect(textAt(texts, index)).toBe(text);
      });
    }),
  );
});

const COLUMN: fc.Arbitrary<StringColumn> = fc
  .tuple(
    fc.array(TEXT, { minLength: 1, maxLength: 200 }),
    fc.array(fc.tuple(fc.nat(199), fc.boolean()), { maxLength: 50 }),
    fc.boolean(),
  )
  .map(([texts, rows, hasNulls]) => ({
    type: 'string',
    codes: Uint32Array.from(rows, ([code]) => code % texts.length),
    texts: textsOf(texts),
    valid: hasNulls ? Uint8Array.from(rows, ([, isThere]) => Number(isThere)) : undefined,
  }));

function valuesOf(column: StringColumn): unknown[] {
  return Array.from(column.codes, (_, row) => columnValue(column, row));
}

test('a compact column has the same rows and hardly more texts than they have', () => {
  fc.assert(
    fc.property(COLUMN, (column) => {
      const compact = compactTexts(column);
      const values = valuesOf(column);

      expect(valuesOf(compact)).toEqual(values);
      let bytes = 0;
      for (const value of values) bytes += 4 + Buffer.byteLength(String(value ?? ''));
      const kept = compact.texts.bytes.length + 4 * (compact.texts.offsets.length - 1);
      expect(kept).toBeLessThanOrEqual(2 * bytes + 2048);
    }),
    { numRuns: 500 },
  );
});

test('without nulls, rows that had none are empty', () => {
  fc.assert(
    fc.property(COLUMN, (column) => {
      const values = valuesOf(column).map((value) => value ?? '');

      expect(valuesOf(withEmptyTexts(column))).toEqual(values);
    }),
  );
});

test('the longest text is measured in bytes', () => {
  expect(longestText(textsOf(['abc', 'ää', '']))).toBe(4);
  expect(longestText(textsOf([]))).toBe(0);
});
