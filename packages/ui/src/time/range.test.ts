import { expect, test } from 'vitest';

import { parseInstant, shifted, spanOf, widened } from './range.ts';

const NOW = Date.UTC(2024, 0, 2);
const YORK = 'America/New_York';
const at = (text: string) => Date.parse(text);

test.each([
  ['now', NOW],
  ['now-1h', NOW - 3_600_000],
  ['now - 2 d', NOW - 2 * 86_400_000],
  ['now-1M', at('2023-12-02T00:00:00Z')],
  ['2024-01-01T00:00:00Z', NOW - 86_400_000],
  ['2024-01-01T00:00:00-05:00', at('2024-01-01T05:00:00Z')],
  [String(NOW), NOW],
  ['yesterday', undefined],
  ['2024-13-01', undefined],
  ['', undefined],
])('%j is an instant, or not', (text, ms) => {
  expect(parseInstant(text, { nowMs: NOW, zone: 'UTC' })).toBe(ms);
});

test.each([
  // Clocks in New York are five hours behind UTC in winter, and four in summer.
  ['2024-01-01 02:00', 'UTC', '2024-01-01T02:00:00Z'],
  ['2024-01-01 02:00', YORK, '2024-01-01T07:00:00Z'],
  ['2024-07-01T02:00:00.5', YORK, '2024-07-01T06:00:00.500Z'],
  // Skipped when summer time begins; repeated when it ends.
  ['2024-03-10 02:30', YORK, '2024-03-10T07:30:00Z'],
  ['2024-03-10 03:00', YORK, '2024-03-10T07:00:00Z'],
  ['2024-11-03 01:30', YORK, '2024-11-03T05:30:00Z'],
  ['2024-11-03 02:00', YORK, '2024-11-03T07:00:00Z'],
  ['2024-01-01', 'Asia/Kolkata', '2023-12-31T18:30:00Z'],
])('%s in %s is %s', (text, zone, expected) => {
  expect(parseInstant(text, { nowMs: NOW, zone })).toBe(at(expected));
});

test.each([
  [{ from: 'now/d', to: 'now/d' }, 'UTC', '2024-05-15T00:00:00Z', '2024-05-15T23:59:59.999Z'],
  [{ from: 'now/d', to: 'now' }, YORK, '2024-05-15T04:00:00Z', '2024-05-15T12:34:56Z'],
  [{ from: 'now-1d/d', to: 'now-1d/d' }, YORK, '2024-05-14T04:00:00Z', '2024-05-15T03:59:59.999Z'],
  [{ from: 'now/w', to: 'now/w' }, 'UTC', '2024-05-13T00:00:00Z', '2024-05-19T23:59:59.999Z'],
  [{ from: 'now-1M/M', to: 'now-1M/M' }, 'UTC', '2024-04-01T00:00:00Z', '2024-04-30T23:59:59.999Z'],
  [{ from: 'now/y', to: 'now/h' }, 'UTC', '2024-01-01T00:00:00Z', '2024-05-15T12:59:59.999Z'],
  [
    { from: '2024-05-01', to: '2024-05-02' },
    YORK,
    '2024-05-01T04:00:00Z',
    '2024-05-03T03:59:59.999Z',
  ],
])('%j in %s', (range, zone, from, to) => {
  const now = at('2024-05-15T12:34:56Z');
  expect(spanOf(range, now, zone)).toEqual({ fromMs: at(from), toMs: at(to) });
});

test('a range without anything between is none', () => {
  expect(spanOf({ from: 'now-1h', to: 'now' }, NOW)).toEqual({
    fromMs: NOW - 3_600_000,
    toMs: NOW,
  });
  expect(spanOf({ from: 'now', to: 'now-1h' }, NOW)).toBeUndefined();
  expect(spanOf({ from: 'x', to: 'now' }, NOW)).toBeUndefined();
});

test('a span grows around its middle, and moves by its length', () => {
  expect(widened({ fromMs: NOW - 1000, toMs: NOW + 1000 }, 2)).toEqual({
    from: '2024-01-01T23:59:58.000Z',
    to: '2024-01-02T00:00:02.000Z',
  });
  expect(shifted({ fromMs: NOW - 1000, toMs: NOW }, -1)).toEqual({
    from: '2024-01-01T23:59:58.000Z',
    to: '2024-01-01T23:59:59.000Z',
  });
});
