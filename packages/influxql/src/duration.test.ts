import { formatDuration } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { parseDuration } from './duration.ts';

test.each([
  ['1ns', 1n],
  ['3u', 3000n],
  ['3µ', 3000n],
  ['5ms', 5_000_000n],
  ['1h30m', 5_400_000_000_000n],
  ['1w2d', 777_600_000_000_000n],
  ['0s', 0n],
])('parses %s', (text, nanos) => {
  expect(parseDuration(text)).toEqual({ ok: true, nanos });
});

test.each(['', '1', 'h', '1y', '1h3', '1.5h', '1 h', '1e3', '99999999999999999999s'])(
  'refuses %j',
  (text) => {
    expect(parseDuration(text)).toEqual({ ok: false, error: 'invalid duration' });
  },
);

test.each(['99999999w', '9000000000s9000000000s'])('refuses %s as too long', (text) => {
  expect(parseDuration(text)).toEqual({
    ok: false,
    error: `overflowed duration ${text}: choose a smaller duration or INF`,
  });
});

test('printed durations parse to the same length', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 9223372036854775807n }), (nanos) => {
      expect(parseDuration(formatDuration(nanos))).toEqual({ ok: true, nanos });
    }),
  );
});
