import { utf8Text } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { cutLines, parseLines, printLine } from './index.ts';

const texts = (body: string, bytesMax: number): readonly string[] =>
  cutLines(Buffer.from(body), bytesMax).map(utf8Text);

test('a body that fits is one piece, whatever is in it', () => {
  expect(texts('', 1)).toEqual(['']);
  expect(texts('m v=1\n\n# c\nm v=2\n', 100)).toEqual(['m v=1\n\n# c\nm v=2\n']);
});

test('a body is cut between lines, and not at a newline within a value', () => {
  expect(texts('a v=1\nb v=2\nc s="x\ny"\n', 12)).toEqual(['a v=1\nb v=2', 'c s="x\ny"\n']);
});

test('a line that does not fit is named', () => {
  expect(() => texts('a v=1\nb v=22222222', 10)).toThrow(
    'a line is too long: 12 bytes, at most 10',
  );
});

test('pieces have the points of the whole, in its order', () => {
  const point = fc.record({
    measurement: fc.string({ minLength: 1, maxLength: 4 }).filter((name) => !/[\\#\n]/.test(name)),
    value: fc.string({ maxLength: 6 }),
  });
  fc.assert(
    fc.property(fc.array(point, { minLength: 1, maxLength: 30 }), (points) => {
      const lines = points.map(({ measurement, value }, i) =>
        printLine({ measurement, tags: [], fields: [['s', value]], time: BigInt(i) }),
      );
      const body = Buffer.from(lines.join('\n'));
      const read = (bytes: Uint8Array): readonly unknown[] => {
        const { points: found } = parseLines(bytes, { precision: 'ns', now: 0n });
        return found.map(({ time, fields }) => [time, fields]);
      };
      const pieces = cutLines(body, 64);
      expect(pieces.every(({ length }) => length <= 64)).toBe(true);
      expect(pieces.flatMap(read)).toEqual(read(body));
    }),
  );
});
