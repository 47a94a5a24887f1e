import { expect, test } from 'vitest';

import { expandMacros, hasTimeFilter, intervalOf } from './macros.ts';

const VALUES = { fromMs: 1000.4, toMs: 2000.4, interval: '10s' };

test('the span and the width take the place of the words', () => {
  const text = 'SELECT mean(x) FROM m WHERE $timeFilter GROUP BY time($interval), "$intervals"';

  expect(expandMacros(text, VALUES).text).toBe(
    'SELECT mean(x) FROM m WHERE time >= 1000ms AND time <= 2001ms GROUP BY time(10s), "$intervals"',
  );
  expect([hasTimeFilter(text), hasTimeFilter('SELECT 1')]).toEqual([true, false]);
});

test('offsets lead back to what was written', () => {
  const text = 'WHERE $timeFilter GROUP BY time($interval) FOO';
  const expanded = expandMacros(text, VALUES);

  for (const word of ['WHERE', 'GROUP', 'FOO']) {
    expect(expanded.originalOffset(expanded.text.indexOf(word)), word).toBe(text.indexOf(word));
  }
  expect(expanded.originalOffset(expanded.text.indexOf('AND'))).toBe('WHERE $timeFilter'.length);
});

test.each([
  [3_600_000, 1200, '10s'],
  [86_400_000, 1000, '5m'],
  [30 * 86_400_000, 1000, '2h'],
  [100, 1000, '1ms'],
  [20 * 365 * 86_400_000, 400, '30d'],
])('a span of %d ms on %d pixels is counted in %s', (span, width, interval) => {
  expect(intervalOf(span, width)).toBe(interval);
});
