import { expect, test } from 'vitest';

import { loadPatterns } from '../dashboards/patterns.ts';
import { exactValue, shownValue } from './value-text.ts';

const MAPPINGS = [
  { kind: 'value', match: '0', text: 'down', level: 'bad' },
  { kind: 'range', from: 10, to: 20, match: '', text: 'some', level: 'warn' },
  { kind: 'range', from: 1000, match: '', text: 'many' },
  { kind: 'pattern', match: '/^web-/', text: 'a web server' },
  { kind: 'special', match: 'null', text: 'unknown' },
  { kind: 'special', match: 'true', text: 'yes' },
];

test.each([
  [0, 'down', 'bad'],
  [10, 'some', 'warn'],
  [20.5, '20.5', undefined],
  [5000n, 'many', undefined],
  ['web-1', 'a web server', undefined],
  ['db-1', 'db-1', undefined],
  [null, 'unknown', undefined],
  [NaN, 'unknown', undefined],
  [true, 'yes', undefined],
  [false, 'false', undefined],
])('%s is shown as %s', async (value, text, level) => {
  const cell = { options: { mappings: MAPPINGS } };
  await loadPatterns(cell.options);
  expect(shownValue(cell, value)).toMatchObject({ text, level });
});

test('unit, decimals and what stands around a number; what an override says wins', () => {
  const options = {
    unit: 'bytes',
    decimals: 2,
    prefix: '~',
    suffix: '!',
    noValue: 'nothing',
    thresholds: [
      { value: 10, level: 'warn' },
      { value: 1000, level: 'bad' },
    ],
  };
  expect(shownValue({ options }, 1536)).toMatchObject({ text: '~1.50 KiB!', level: 'bad' });
  expect(shownValue({ options }, NaN)).toMatchObject({ text: 'nothing', level: undefined });
  const look = { unit: 'percent', decimals: 0, thresholds: [{ value: 1, level: 'good' as const }] };
  expect(shownValue({ options }, 12.4, look)).toMatchObject({ text: '~12 %!', level: 'good' });
});

test('in a table a number without a unit has all of its digits', () => {
  expect(exactValue({ options: {} }, 1234567.891).text).toBe('1234567.891');
  expect(exactValue({ options: { decimals: 1 } }, 1234567.891).text).toBe('1.2M');
  expect(exactValue({ options: {} }, 12345678901234567890n).text).toBe('12345678901234567890');
});
