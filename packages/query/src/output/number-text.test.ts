import fc from 'fast-check';
import { expect, test } from 'vitest';

import { TextBuffer } from './bytes.ts';
import {
  appendFloat,
  appendInteger,
  decimalText,
  floatText,
  UnsupportedFloat,
} from './number-text.ts';

function printed(append: (out: TextBuffer) => void): string {
  const out = new TextBuffer();
  append(out);
  return new TextDecoder().decode(out.take());
}

test.each([
  [0, '0'],
  [-0, '-0'],
  [0.5, '0.5'],
  [-0.05, '-0.05'],
  [10, '10'],
  [999_999_999, '999999999'],
  [-12_345.67891, '-12345.67891'],
  [1e21, '1e+21'],
  [1e-7, '1e-7'],
  [5e-324, '5e-324'],
  [0.1 + 0.2, '0.30000000000000004'],
  [Number.NaN, 'null'],
])('prints the float %d as %s', (value, text) => {
  expect(printed((out) => appendFloat(value, out))).toBe(text);
});

test('prints every finite float as JSON does, minus zero apart', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(printed((out) => appendFloat(value, out))).toBe(floatText(value));
    }),
  );
});

test('prints decimals with few places as JSON does', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -2_000_000_000, max: 2_000_000_000 }),
      fc.integer({ min: 0, max: 6 }),
      (digits, places) => {
        const value = digits / 10 ** places;
        expect(printed((out) => appendFloat(value, out))).toBe(floatText(value));
      },
    ),
  );
});

test('refuses infinities with the recorded text', () => {
  expect(() => printed((out) => appendFloat(Infinity, out))).toThrow(UnsupportedFloat);
  expect(() => printed((out) => appendFloat(-Infinity, out))).toThrow(
    'json: unsupported value: -Inf',
  );
});

test('prints integers of the whole range with all digits', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }), (value) => {
      expect(printed((out) => appendInteger(value, out))).toBe(value.toString());
    }),
  );
});

test('prints decimals without an exponent that read back the same', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = decimalText(value);
      expect(text).not.toContain('e');
      expect(Number(text)).toBe(value);
    }),
  );
});
