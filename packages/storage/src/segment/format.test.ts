// Footers of segments with more series than a block holds.
import { expect, test } from 'vitest';

import { DecodeError } from '../columns/bytes.ts';
import { decodeFooter, encodeFooter } from './format.ts';
import type { SegmentFooter } from './format.ts';

function footerOf(series: number): SegmentFooter {
  const ids = (from: number): Uint32Array =>
    Uint32Array.from({ length: series }, (_, i) => from + i * 3);
  const measurement = (measurementId: number): SegmentFooter['measurements'][number] => ({
    measurementId,
    fields: [{ name: 'f', type: 'float' }],
    series: ids(measurementId),
    pages: [{ isShared: false, firstSeries: measurementId, offset: 16, length: 9 }],
    rows: 7,
  });
  return { shardId: 1, minTime: 0n, maxTime: 5n, measurements: [measurement(0), measurement(2)] };
}

test.each([0, 9, 10, 11, 20, 35])('%i series in parts of ten come back as they were', (series) => {
  const footer = footerOf(series);

  expect(decodeFooter(encodeFooter(footer, 10))).toEqual(footer);
});

test('a measurement that is listed twice as a whole is damage', () => {
  const footer = footerOf(3);
  const twice = { ...footer, measurements: [footer.measurements[0]!, footer.measurements[0]!] };

  expect(() => decodeFooter(encodeFooter(twice))).toThrow(DecodeError);
});
