// Binary search, compared with a linear search.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstBeyond, firstNotBelow } from './search.ts';

const ascending = fc
  .array(fc.nat(50), { maxLength: 30 })
  .map((list) => list.toSorted((a, b) => a - b));

test('the first element that is not below a value, in typed and other lists', () => {
  fc.assert(
    fc.property(ascending, fc.integer({ min: -1, max: 52 }), fc.nat(30), (list, value, skipped) => {
      const from = Math.min(skipped, list.length);
      const found = list.findIndex((each, i) => i >= from && each >= value);
      const expected = found < 0 ? list.length : found;

      expect(firstNotBelow(list, value, from)).toBe(expected);
      if (value >= 0) expect(firstNotBelow(Uint32Array.from(list), value, from)).toBe(expected);
      if (from === 0) expect(firstBeyond(list.length, (i) => list[i]! >= value)).toBe(expected);
    }),
  );
});
