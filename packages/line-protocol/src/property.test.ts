import fc from 'fast-check';
import { expect, test } from 'vitest';

import { parseLines, printLine, SeriesCache } from './index.ts';
import type { LineFieldValue } from './index.ts';

const encoder = new TextEncoder();

// A backslash at the end of a name, or before a character that is escaped, cannot be written in
// line protocol.
const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map((text) => text.replace(/[\\\n\r\t\0 ]/g, '_').replace(/^[#,]/, 'x'))
  .filter((text) => text !== '');
const nameWithSpecials = fc
  .array(fc.oneof(name, fc.constantFrom(' ', ',', '=')), { minLength: 1, maxLength: 4 })
  .map((parts) => `a${parts.join('')}z`);

const value: fc.Arbitrary<LineFieldValue> = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((unsigned) => ({ unsigned })),
  fc.boolean(),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.constantFrom('"', '\\', '\\"', '\\\\', '\n', 'a\\', 'x=1,y="z" 5'),
);

const point = fc.record({
  measurement: nameWithSpecials,
  tags: fc.dictionary(nameWithSpecials, nameWithSpecials, { maxKeys: 4, noNullPrototype: true }),
  fields: fc.uniqueArray(fc.tuple(nameWithSpecials, value), {
    minLength: 1,
    maxLength: 6,
    selector: ([key]) => key,
  }),
  time: fc.bigInt({ min: -9223372036854775806n, max: 9223372036854775806n }),
});

test('parsing what was printed gives the same points', () => {
  const cache = new SeriesCache();
  fc.assert(
    fc.property(fc.array(point, { minLength: 1, maxLength: 5 }), (points) => {
      const lines = points.map((p) => printLine({ ...p, tags: Object.entries(p.tags) }));
      const parsed = parseLines(encoder.encode(lines.join('\n')), {
        precision: 'ns',
        now: 0n,
        allowUnsigned: true,
        cache,
      });
      expect(parsed.errors).toEqual([]);
      expect(
        parsed.points.map((p) => ({
          measurement: p.measurement,
          tags: Object.fromEntries(p.tags),
          fields: p.fields,
          time: p.time,
        })),
      ).toEqual(points);
    }),
    { numRuns: 400 },
  );
});

test('any bytes give points and errors, never an exception, and every line is accounted for', () => {
  const soup = fc
    .array(
      fc.constantFrom(
        'm',
        ',',
        '=',
        ' ',
        '"',
        '\\',
        '\n',
        '\r',
        '\t',
        '1',
        'i',
        'e',
        '.',
        '-',
        't',
        '#',
        '\0',
        'ü',
      ),
      { maxLength: 60 },
    )
    .map((parts) => encoder.encode(parts.join('')));
  fc.assert(
    fc.property(fc.oneof(soup, fc.uint8Array({ maxLength: 60 })), (body) => {
      const { points, errors } = parseLines(body, { precision: 'ns', now: 0n });
      for (const p of points) {
        expect(p.fields.length).toBeGreaterThan(0);
        expect(p.end).toBeLessThanOrEqual(body.length);
      }
      const numbers = [...points, ...errors].map((x) => x.lineNumber).sort((a, b) => a - b);
      expect(new Set(numbers).size).toBe(numbers.length);
    }),
    { numRuns: 3000 },
  );
});

test('a body without special bytes parses the same line by line', () => {
  fc.assert(
    fc.property(fc.array(point, { minLength: 2, maxLength: 6 }), (points) => {
      const lines = points
        .map((p) => printLine({ ...p, tags: Object.entries(p.tags) }) ?? '')
        .filter((line) => !line.includes('\n'));
      const options = { precision: 'ns', now: 0n, allowUnsigned: true } as const;
      const together = parseLines(encoder.encode(lines.join('\n')), options);
      const alone = lines.flatMap((line) => parseLines(encoder.encode(line), options).points);
      expect(together.points.map((p) => [p.series.key, p.fields, p.time])).toEqual(
        alone.map((p) => [p.series.key, p.fields, p.time]),
      );
    }),
    { numRuns: 200 },
  );
});
