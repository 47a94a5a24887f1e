import { expect, test } from 'vitest';

import { axisTicks } from './ticks.ts';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2024, 0, 1, 10, 7);
const labels = (spanMs: number, zone: string): readonly string[] =>
  axisTicks({ fromMs: START, toMs: START + spanMs }, zone).map(({ text }) => text);

test('labels are at round times of the zone', () => {
  expect(labels(3 * HOUR_MS, 'UTC')).toEqual([
    '10:30',
    '11:00',
    '11:30',
    '12:00',
    '12:30',
    '13:00',
  ]);
  // Half an hour beside UTC.
  expect(labels(6 * HOUR_MS, 'Asia/Kolkata')[0]).toBe('16:00');
  expect(labels(30_000, 'UTC').at(0)).toBe('10:07:05');
  expect(labels(6 * 24 * HOUR_MS, 'UTC')).toContain('01-03');
});

test('no label sticks out', () => {
  for (const { ms } of axisTicks({ fromMs: START, toMs: START + HOUR_MS }, 'UTC')) {
    expect(ms).toBeGreaterThan(START + HOUR_MS * 0.03);
    expect(ms).toBeLessThanOrEqual(START + HOUR_MS * 0.97);
  }
});
