import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NewPoint } from '@tidemark/storage-api';

import { packPoints, unpackPoints } from './packed-points.ts';

const name = fc.constantFrom('a', 'b', 'a,b', '', 'é');
const value = fc.oneof(
  fc.double(),
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.bigInt(0n, 2n ** 64n - 1n).map((unsigned) => ({ unsigned })),
  fc.boolean(),
  fc.string(),
);

const point: fc.Arbitrary<NewPoint> = fc.record({
  measurement: name,
  tags: fc.array(fc.tuple(name, name), { maxLength: 3 }),
  fields: fc.array(fc.tuple(name, value), { maxLength: 3 }),
  time: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
});

test('points of any shape come out as they went in', () => {
  fc.assert(
    fc.property(fc.array(point, { maxLength: 30 }), (points) => {
      expect(unpackPoints(structuredClone(packPoints(points)))).toEqual(points);
    }),
    { numRuns: 30 },
  );
}, 180_000);

test('points that share their tags and names do so on the other side', () => {
  const tags = [['host', 'h1']] as const;
  const points = Array.from({ length: 1000 }, (_, i): NewPoint => ({
    measurement: 'm',
    tags,
    fields: [
      ['f', i / 2],
      ['s', `text ${i}`],
    ],
    time: BigInt(i),
  }));
  const packed = structuredClone(packPoints(points));

  expect([packed.shapes.length, packed.tagSets.length]).toEqual([1, 1]);
  const received = unpackPoints(packed);
  expect(received).toEqual(points);
  expect(new Set(received.map((one) => one.tags)).size).toBe(1);
});
