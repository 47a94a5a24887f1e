import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Heights } from './heights.ts';

const USUAL = 25;

test('rows have the usual height until they are measured', () => {
  const heights = new Heights(USUAL);
  heights.resize(4);

  expect(heights.total).toBe(100);
  expect(heights.set(1, 75)).toBe(50);
  expect(heights.set(1, 75)).toBe(0);
  expect([0, 1, 2, 3, 4].map((row) => heights.topOf(row))).toEqual([0, 25, 100, 125, 150]);
  expect([-5, 0, 24, 25, 99, 100, 149, 1000].map((top) => heights.indexAt(top))).toEqual([
    0, 0, 0, 1, 1, 2, 3, 3,
  ]);
});

test('measured rows keep their height when rows are added', () => {
  const heights = new Heights(USUAL);
  heights.resize(2);
  heights.set(0, 100);
  heights.resize(3);

  expect(heights.total).toBe(150);
});

test('an empty list has no height', () => {
  const heights = new Heights(USUAL);

  expect(heights.total).toBe(0);
  expect(heights.indexAt(10)).toBe(0);
});

test('is what a plain list of heights says', () => {
  const measured = fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 300 })));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), measured, fc.nat(3000), (count, sets, top) => {
      const heights = new Heights(USUAL);
      heights.resize(count);
      const plain = Array.from({ length: count }, () => USUAL);
      for (const [index, height] of sets) {
        if (index >= count) continue;
        expect(heights.set(index, height)).toBe(height - (plain[index] ?? 0));
        plain[index] = height;
      }
      const tops = plain.map((_, i) => plain.slice(0, i).reduce((sum, one) => sum + one, 0));
      expect(plain.map((_, i) => heights.topOf(i))).toEqual(tops);
      expect(heights.indexAt(top)).toBe(tops.findLastIndex((each) => each <= top));
    }),
  );
});
