// Encoded points keep every name and value.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { decodePoints, encodePoints, encodePointsWithin } from './point-body.ts';
import { printedLines } from './point-lines.ts';
import { batchOfPoints } from './point-record.ts';

/** Line protocol has a meaning for some of these, and UTF-8 has no bytes for a lone surrogate. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'a\\',
    'a\\ 1',
    '#a',
    'a\nb',
    ' ',
    ',',
    '=',
    '"',
    '',
    '\u0000',
    '\ud800',
    '\ufeffa',
  ),
);

const value = fc.oneof(
  fc.double(),
  fc.constantFrom(-0, Number.NaN, Infinity, -Infinity),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.boolean(),
  text,
);

const point = fc.record({
  name: text,
  tags: fc.array(fc.tuple(text, text), { maxLength: 3 }),
  fields: fc.array(fc.tuple(text, value), { minLength: 1, maxLength: 3 }),
  time: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
});

const target = { database: 'd', retentionPolicy: 'r' };

test('any points are read as they were written', () => {
  fc.assert(
    fc.property(fc.array(point, { maxLength: 8 }), (points) => {
      const read = decodePoints(encodePoints(points));

      expect(read).toEqual(points);
      expect(batchOfPoints(target, read)).toEqual(batchOfPoints(target, points));
    }),
  );
});

test('points that do not fit one body are in several, in their order', () => {
  fc.assert(
    fc.property(fc.array(point, { minLength: 1, maxLength: 20 }), (points) => {
      const bodies = encodePointsWithin(points, 300);

      expect(bodies.flatMap(({ bytes }) => decodePoints(bytes))).toEqual(points);
      for (const { bytes, count } of bodies) {
        expect(decodePoints(bytes)).toHaveLength(count);
        expect(count === 1 || bytes.length <= 300).toBe(true);
      }
    }),
  );
});

test('any bytes are points or refused', () => {
  const json = fc.json().map((body) => Buffer.from(body));
  const damaged = fc
    .tuple(fc.array(point, { minLength: 1, maxLength: 3 }), fc.nat(), fc.nat(255))
    .map(([points, at, byte]) => {
      const bytes = Uint8Array.from(encodePoints(points));
      bytes[at % bytes.length] = byte;
      return bytes;
    });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), json, damaged), (bytes) => {
      let points;
      try {
        points = decodePoints(bytes);
      } catch {
        return;
      }
      // All points that are read can be used.
      batchOfPoints(target, points);
    }),
  );
});

test('lines have those points only that they can carry', () => {
  const of = (name: string, tag = 't'): Parameters<typeof printedLines>[0][number] => ({
    name,
    tags: [['k', tag]],
    fields: [['v', 1]],
    time: 1n,
  });
  const { body, count } = printedLines([of('a'), of('a\\'), of('#a'), of('b', 'x\ny'), of('b c')]);

  expect(count).toBe(2);
  expect(Buffer.from(body).toString()).toBe('a,k=t v=1 1\nb\\ c,k=t v=1 1');
});
