import { parseLines } from '@tidemark/line-protocol';
import { expect, test } from 'vitest';

import { sampleLines } from './sample-lines.ts';

test('the sample is a day of four rooms that the database can read', () => {
  const END_MS = Date.UTC(2024, 0, 2);
  const body = new TextEncoder().encode(sampleLines(END_MS));
  const { points, errors } = parseLines(body, { precision: 'ms', now: 0n });

  expect([points.length, errors]).toEqual([24 * 60 * 4, []]);
  expect(points[0]?.time).toBe(BigInt(END_MS - 86_400_000) * 1_000_000n);
  expect(points.at(-1)?.time).toBe(BigInt(END_MS - 60_000) * 1_000_000n);
});
