import fc from 'fast-check';
import { expect, test } from 'vitest';

import { formatDuration, formatGoDuration, parseDuration } from './duration.ts';

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

test.each([
  [0n, '0s', '0s'],
  [1n, '1ns', '1ns'],
  [1500n, '1500ns', '1.5µs'],
  [92_000n, '92u', '92µs'],
  [1_500_000n, '1500u', '1.5ms'],
  [90_500_000_000n, '90500ms', '1m30.5s'],
  [5_400_000_000_000n, '90m', '1h30m0s'],
  [604_800_000_000_000n, '1w', '168h0m0s'],
  [-60_000_000_000n, '-1m', '-1m0s'],
])('prints %i', (nanos, short, long) => {
  expect(formatDuration(nanos)).toBe(short);
  expect(formatGoDuration(nanos)).toBe(long);
});

test('what is printed parses to the same length', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 9223372036854775807n }), (nanos) => {
      expect(parseDuration(formatDuration(nanos))).toEqual({ ok: true, nanos });
    }),
  );
});
