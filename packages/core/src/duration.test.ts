// Parsing and printing of durations.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { formatClockDuration, formatDuration, parseClockDuration } from './duration.ts';

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
])('prints %i', (nanos, literal, clock) => {
  expect(formatDuration(nanos)).toBe(literal);
  expect(formatClockDuration(nanos)).toBe(clock);
});

test('what is printed reads back the same', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (nanos) => {
      expect(parseClockDuration(formatClockDuration(nanos))).toBe(nanos);
    }),
  );
});

test.each(['', 's', '1', '1x', '1s2', '-', '1.s'])('%j is no duration', (text) => {
  expect(parseClockDuration(text)).toBeUndefined();
});
