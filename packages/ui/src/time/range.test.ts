import { expect, test } from 'vitest';

import { parseInstant, spanOf, widened } from './range.ts';

const NOW = Date.UTC(2024, 0, 2);

test.each([
  ['now', NOW],
  ['now-1h', NOW - 3_600_000],
  ['now - 2 d', NOW - 2 * 86_400_000],
  ['2024-01-01T00:00:00Z', NOW - 86_400_000],
  [String(NOW), NOW],
  ['yesterday', undefined],
  ['', undefined],
])('%j is an instant, or not', (text, ms) => {
  expect(parseInstant(text, NOW)).toBe(ms);
});

test('a range without anything between is none', () => {
  expect(spanOf({ from: 'now-1h', to: 'now' }, NOW)).toEqual({
    fromMs: NOW - 3_600_000,
    toMs: NOW,
  });
  expect(spanOf({ from: 'now', to: 'now-1h' }, NOW)).toBeUndefined();
  expect(spanOf({ from: 'x', to: 'now' }, NOW)).toBeUndefined();
});

test('a span grows around its middle', () => {
  expect(widened({ fromMs: NOW - 1000, toMs: NOW + 1000 }, 2)).toEqual({
    from: '2024-01-01T23:59:58.000Z',
    to: '2024-01-02T00:00:02.000Z',
  });
});
