import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numberOfRank } from './rank.ts';

test('any rank of any numbers is what sorting them gives', () => {
  const numbers = fc.oneof(
    fc.array(fc.double(), { minLength: 1, maxLength: 300 }),
    // Many equal ones.
    fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 300 }),
  );
  fc.assert(
    fc.property(numbers, fc.nat(), (values, seed) => {
      const rank = seed % values.length;

      const found = numberOfRank(values, rank);

      // Zeros of both signs are equal here.
      expect(found + 0).toBe((Float64Array.from(values).sort()[rank] ?? 0) + 0);
    }),
  );
});
