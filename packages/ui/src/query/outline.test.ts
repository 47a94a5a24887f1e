import { expect, test } from 'vitest';

import { outlineOf } from './outline.ts';

test('points become the smallest and largest of every column of pixels', () => {
  expect(outlineOf(`SELECT celsius FROM room WHERE $timeFilter AND "name" = 'a'`)).toBe(
    `SELECT min(celsius), max(celsius) FROM room WHERE $timeFilter AND "name" = 'a' GROUP BY time($interval) fill(none)`,
  );
  expect(outlineOf('SELECT a, b FROM m WHERE $timeFilter GROUP BY host')).toBe(
    'SELECT min(a), max(a), min(b), max(b) FROM m WHERE $timeFilter GROUP BY time($interval), host fill(none)',
  );
});

test.each([
  'SELECT mean(celsius) FROM room WHERE $timeFilter GROUP BY time($interval)',
  'SELECT celsius FROM room WHERE $timeFilter LIMIT 5',
  'SELECT * FROM room WHERE $timeFilter',
  'SELECT celsius FROM room',
  'SHOW DATABASES',
])('what asks for something else stays: %s', (text) => {
  expect(outlineOf(text)).toBeUndefined();
});
