import { expect, test } from 'vitest';

import { formatValue } from './format.ts';
import { formatBytes, formatMs } from './quantity.ts';

test.each([
  [0, '0'],
  [21.5, '21.5'],
  [9999, '9999'],
  [10_000, '10k'],
  [1_234_567, '1.23M'],
  [-2_500_000, '-2.5M'],
  [0.000_012, '1.2e-5'],
  [1e30, '1.00e+30'],
  [NaN, '–'],
])('%d is shown as %s', (value, text) => {
  expect(formatValue(value)).toBe(text);
});

test('units', () => {
  expect(formatBytes(1536)).toBe('1.5 KiB');
  expect(formatBytes(5)).toBe('5 B');
  expect([90_000, 1500, 20, 0.004, 0].map(formatMs)).toEqual([
    '1.5 min',
    '1.5 s',
    '20 ms',
    '4 µs',
    '0 ms',
  ]);
  expect(formatValue(12.34, 'percent')).toBe('12.3 %');
  expect(formatValue(2, 's')).toBe('2 s');
  expect(formatValue(25_000, 'per-second')).toBe('25k/s');
});
