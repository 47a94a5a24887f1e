import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Numbered } from './numbered.ts';

test('is a map of numbers, whatever is added and taken', () => {
  // Numbers that meet in the same slots, and more than there are slots at first.
  const number = fc.oneof(
    fc.integer({ min: 0, max: 200 }),
    fc.integer({ min: 0, max: 8 }).map((times) => 62 + times * 64),
    fc.integer({ min: 2 ** 40, max: 2 ** 40 + 70 }),
  );
  fc.assert(
    fc.property(fc.array(number, { maxLength: 600 }), (numbers) => {
      const table = new Numbered<string>();
      const expected = new Map<number, string>();
      for (const one of numbers) {
        if (expected.has(one)) {
          expect(table.take(one)).toBe(expected.get(one));
          expected.delete(one);
        } else {
          expect(table.take(one)).toBeUndefined();
          table.add(one, `value ${one}`);
          expected.set(one, `value ${one}`);
        }
        expect(table.count).toBe(expected.size);
      }
      for (const [key, value] of expected) expect(table.get(key)).toBe(value);
      expect(table.values().toSorted()).toEqual([...expected.values()].toSorted());
    }),
  );
});

test('a number cannot be used twice at a time', () => {
  const table = new Numbered<string>();
  table.add(7, 'a');
  expect(() => table.add(7, 'b')).toThrow('a number is used once');
});
