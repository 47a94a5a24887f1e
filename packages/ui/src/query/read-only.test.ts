import { expect, test } from 'vitest';

import { isReadOnly } from './read-only.ts';

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
