import { expect, test } from 'vitest';

import { explanationOf, isReadOnly, readingOf } from './read-only.ts';

test.each([
  ['SELECT x FROM m WHERE $timeFilter; SHOW DATABASES', true],
  ['EXPLAIN ANALYZE SELECT x FROM m', true],
  ['SELECT x INTO y FROM m', false],
  ['EXPLAIN ANALYZE SELECT x INTO y FROM m', false],
  ['SHOW DATABASES; DROP DATABASE house', false],
  ['KILL QUERY 5', false],
  ['DROP DATABASE', false],
])('%s: %s', (text, isReading) => {
  expect(isReadOnly(text)).toBe(isReading);
});

test.each([
  ['SELECT v FROM m', 'EXPLAIN ANALYZE SELECT v FROM m'],
  [
    'SELECT v FROM m; SELECT w FROM m',
    'EXPLAIN ANALYZE SELECT v FROM m; EXPLAIN ANALYZE SELECT w FROM m',
  ],
  ['EXPLAIN SELECT v FROM m', 'EXPLAIN SELECT v FROM m'],
])('the plans of %s', (text, expected) => {
  expect(explanationOf(text)).toEqual({ text: expected });
});

test.each(['SELECT v INTO w FROM m', 'SELECT v FROM m; DROP MEASUREMENT m', 'SHOW DATABASES'])(
  '%s is not explained, with the reason',
  (text) => {
    const { refusal } = explanationOf(text) as { readonly refusal: string };
    expect(refusal).toMatch(/changes data|Only SELECT/);
  },
);

test('a refusal names the statement that changes data', () => {
  expect(readingOf('SELECT v FROM m; DROP MEASUREMENT m')).toEqual({
    refusal:
      '“DROP MEASUREMENT m” changes data, so it is not run automatically. Run it in Explore.',
  });
});
