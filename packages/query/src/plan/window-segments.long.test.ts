// Segments of windows in a zone against the windows themselves.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { openZone } from '../analyse/zone.ts';
import type { Steps } from '../operator.ts';
import { windowSegments } from './window-segments.ts';
import type { WindowSegment } from './window-segments.ts';
import { Windows } from './windows.ts';

const HOUR = 3_600_000_000_000n;
const MINUTE = HOUR / 60n;
const YEAR_2018 = 1_514_764_800_000_000_000n;

function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The windows of segments, as a source makes them. */
function windowsOf(segments: readonly WindowSegment[]): [bigint, bigint][] {
  return segments.flatMap(({ range, window, start }): [bigint, bigint][] => {
    if (window === undefined) return [[start, range.end]];
    const found: [bigint, bigint][] = [];
    for (let at = start; at <= range.end; at += window.everyNanos) {
      expect((at - window.offsetNanos) % window.everyNanos).toBe(0n);
      const end = at + window.everyNanos - 1n;
      found.push([at, end > range.end ? range.end : end]);
    }
    return found;
  });
}

test.each([
  'Europe/Berlin',
  'America/New_York',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Pacific/Apia',
])('the windows of segments are those of %s', (name) => {
  const zone = openZone(name)!;
  const every = fc.constantFrom(
    MINUTE * 17n,
    MINUTE * 30n,
    HOUR,
    2n * HOUR,
    7n * HOUR,
    24n * HOUR,
    168n * HOUR,
  );
  const offset = fc.constantFrom(0n, HOUR / 2n, 5n * HOUR);
  const day = fc.integer({ min: -3000, max: 1500 });
  const span = fc.integer({ min: 0, max: 9000 });
  fc.assert(
    fc.property(every, offset, day, span, (everyNanos, offsetNanos, from, hours) => {
      const start = YEAR_2018 + BigInt(from) * 24n * HOUR + 12_345n;
      const range = { start, end: start + BigInt(hours) * HOUR };
      const interval = { everyNanos, offsetNanos };
      const expected: [bigint, bigint][] = [];
      const windows = new Windows(interval, zone);
      for (let at = start; at <= range.end;) {
        const window = windows.of(at);
        expected.push([window.start, window.end > range.end ? range.end : window.end - 1n]);
        at = window.end;
      }

      const segments = finish(windowSegments(range, interval, zone));

      expect(windowsOf(segments)).toEqual(expected);
    }),
    { numRuns: 40 },
  );
});

test('hours are one segment, days a few for each change', () => {
  const zone = openZone('Europe/Berlin')!;
  const range = { start: YEAR_2018, end: YEAR_2018 + 3650n * 24n * HOUR };
  const segments = (everyNanos: bigint): number =>
    finish(windowSegments(range, { everyNanos, offsetNanos: 0n }, zone)).length;

  expect(segments(HOUR)).toBe(1);
  expect(segments(24n * HOUR)).toBe(1 + 10 * 2 * 2);
});
