import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexOfRank } from './rank.ts';

const numbers = fc.oneof(
  fc.array(fc.double(), { minLength: 1, maxLength: 300 }),
  fc.array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 300 }),
  // Many equal ones.
  fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 300 }),
  fc.array(fc.constantFrom(0, -0, Infinity, -Infinity), { minLength: 1, maxLength: 40 }),
);

/** NaN after all others; equal ones in their order. */
function order(values: readonly number[]): number[] {
  const later = (value: number): number => (Number.isNaN(value) ? 1 : 0);
  return values
    .map((_, i) => i)
    .sort((i, j) => {
      const [a, b] = [values[i] ?? 0, values[j] ?? 0];
      return later(a) - later(b) || (a < b ? -1 : a > b ? 1 : i - j);
    });
}

test.each(['any rank', 'a rank near the end', 'a rank near the beginning'])(
  '%s of any numbers is where sorting them has it',
  (place) => {
    fc.assert(
      fc.property(numbers, fc.nat(), (values, seed) => {
        const { length } = values;
        const near = seed % Math.min(length, 20);
        const rank =
          place === 'any rank'
            ? seed % length
            : place === 'a rank near the end'
              ? length - 1 - near
              : near;

        const found = indexOfRank(values, rank);

        const wanted = order(values)[rank] ?? 0;
        const isNaN = Number.isNaN(values[wanted]);
        expect(found).toBe(isNaN ? values.findIndex((value) => Number.isNaN(value)) : wanted);
      }),
    );
  },
);
