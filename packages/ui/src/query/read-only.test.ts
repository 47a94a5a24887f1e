import { parseQuery } from '@tidemark/influxql';
import { expect, test } from 'vitest';

import { explanationOf, isReadOnly } from './read-only.ts';

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
  expect(explanationOf(text, 'no')).toEqual({ text: expected });
});

// One of every kind of statement that changes something.
const CHANGES = [
  'SELECT v INTO w FROM victim',
  'DROP MEASUREMENT victim',
  'DROP SERIES FROM victim',
  'DELETE FROM victim',
  'DROP SHARD 1',
  'CREATE DATABASE d',
  'DROP DATABASE d',
  'CREATE RETENTION POLICY p ON d DURATION 1h REPLICATION 1',
  'ALTER RETENTION POLICY p ON d DURATION 2h',
  'DROP RETENTION POLICY p ON d',
  'CREATE CONTINUOUS QUERY c ON d BEGIN SELECT mean(v) INTO w FROM m GROUP BY time(1m) END',
  'DROP CONTINUOUS QUERY c ON d',
  "CREATE SUBSCRIPTION s ON d.p DESTINATIONS ALL 'http://127.0.0.1:1'",
  'DROP SUBSCRIPTION s ON d.p',
  "CREATE USER u WITH PASSWORD 'p'",
  'DROP USER u',
  "SET PASSWORD FOR u = 'p'",
  'GRANT ALL ON d TO u',
  'GRANT ALL PRIVILEGES TO u',
  'REVOKE ALL ON d FROM u',
  'KILL QUERY 5',
] as const;

test.each(CHANGES)('%s is not explained, and runs nowhere by itself', (text) => {
  expect(parseQuery(text).error).toBeUndefined();
  for (const whole of [text, `SELECT v FROM m; ${text}`, `${text}; SELECT v FROM m`]) {
    expect(isReadOnly(whole)).toBe(false);
    expect(explanationOf(whole, 'no')).toEqual({ refusal: 'no' });
  }
});
