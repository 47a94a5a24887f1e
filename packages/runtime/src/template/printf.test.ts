// Formats of printf: decimals of the exact binary value, widths and numbered operands.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exponentText, fixedText } from './decimal.ts';
import { printf } from './printf.ts';
import { TemplateMap } from './value.ts';
import type { TemplateValue } from './value.ts';

test.each<readonly [string, readonly TemplateValue[], string]>([
  // Halves that are exact go to the even digit, others where they lie.
  ['%U', [65n], 'U+0041'],
  ['%U', [0x1f600n], 'U+1F600'],
  ['%#U', [0x1f600n], "U+1F600 '😀'"],
  ['%#U', [10n], 'U+000A'],
  ['%U', [-1n], 'U+FFFFFFFFFFFFFFFF'],
  ['%.6U', [65n], 'U+000041'],
  ['%U', ['a'], '%!U(string=a)'],
  ['%#v', ['a"b'], '"a\\"b"'],
  ['%#v', [5n], '5'],
  ['%#v', [true], 'true'],
  [
    '%#v',
    [
      new TemplateMap(
        [
          ['b', 'x'],
          ['a', 'y'],
        ],
        '',
      ),
    ],
    'map[string]string{"a":"y", "b":"x"}',
  ],
  ['%#v', [new TemplateMap([['f', 1n]], undefined)], 'map[string]interface {}{"f":1}'],
  ['%#v', [new TemplateMap([], '', true)], 'map[string]string(nil)'],
  ['%.1f', [25.25], '25.2'],
  ['%.1f', [25.75], '25.8'],
  ['%.0f', [0.5], '0'],
  ['%.0f', [1.5], '2'],
  ['%.2f', [1.005], '1.00'],
  ['%.1f', [-25.25], '-25.2'],
  ['%.2f', [1e21], '1000000000000000000000.00'],
  ['%.3f', [0], '0.000'],
  ['%.2f', [-0], '-0.00'],
  ['%.2f', [-0.001], '-0.00'],
  ['%.1e', [24.5], '2.4e+01'],
  ['%.1e', [26.5], '2.6e+01'],
  ['%e', [1e-310], '1.000000e-310'],
  ['%.0e', [0], '0e+00'],
  ['%.3g', [25.25], '25.2'],
  ['%.3g', [1e21], '1e+21'],
  ['%.3g', [123_456], '1.23e+05'],
  ['%.4g', [0.000_012_5], '1.25e-05'],
  ['%.2g', [99.9], '1e+02'],
  ['%g', [1e21], '1e+21'],
  ['%*d', [5n, 42n], '   42'],
  ['%-*d|', [5n, 42n], '42   |'],
  ['%*d|', [-5n, 42n], '42   |'],
  ['%.*f', [1n, 25.25], '25.2'],
  ['%[2]d %[1]d', [1n, 2n], '2 1'],
  ['%[2]*[1]d', [7n, 3n], '  7'],
  ['%[1]d %d', [1n, 2n], '1 2'],
  ['%[3]d', [1n], '%!d(BADINDEX)'],
  ['%*d', ['x', 42n], '%!(BADWIDTH)42'],
  ['%.*d', [-1n, 42n], '42'],
  ['%d', [], '%!d(MISSING)'],
  ['%d', [1n, 2n], '1%!(EXTRA int=2)'],
  ['100%', [], '100%!(NOVERB)'],
  ['100%%', [], '100%'],
])('%s of %o is %s', (format, args, expected) => {
  expect(printf(format, args)).toBe(expected);
});

test('decimals differ from those of JavaScript in halves only', () => {
  const value = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e20, max: 1e20 }),
    fc.integer({ min: -100_000, max: 100_000 }).map((n) => n / 8),
  );
  fc.assert(
    fc.property(value, fc.nat(20), (number, decimals) => {
      const text = fixedText(number, decimals);
      const other = (Object.is(number, -0) ? '-' : '') + number.toFixed(decimals);
      if (text === other) return;
      // Between two equally near numbers, the even one is chosen.
      const units = (each: string): bigint => BigInt(each.replace('.', ''));
      const distance = units(text) - units(other);
      expect([1n, -1n]).toContain(distance);
      expect(/[02468]$/.test(text)).toBe(true);
    }),
  );
});

test('sixteen digits behind the point read back as the value', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      expect(Number(exponentText(number, 16))).toBe(number);
    }),
  );
});
