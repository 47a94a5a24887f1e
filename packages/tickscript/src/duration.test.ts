// Durations as text.
import { formatDuration } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDuration } from './index.ts';

test.each([
  ['90s', 90_000_000_000n],
  ['1w2d3h4m5s6ms7u', 788_645_006_007_000n],
  ['-5m', -300_000_000_000n],
  ['3µ', 3_000n],
  ['3µs', 3_000n],
  ['7ns', 7n],
  ['0s', 0n],
])('parses %s', (text, nanos) => {
  expect(parseDuration(text)).toBe(nanos);
});

test.each(['', '5', 's', '1.5h', '1 h', '5y', '--5s', '999999999w', '1h-5m'])(
  'refuses %j',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test('printing and parsing are inverse', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (nanos) => {
      expect(parseDuration(formatDuration(nanos))).toBe(nanos);
    }),
  );
});
