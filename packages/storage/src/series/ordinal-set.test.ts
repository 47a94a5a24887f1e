// Algebra of sets of ordinals, against sets of numbers.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  ALL_ORDINALS,
  complement,
  intersection,
  membersBelow,
  NO_ORDINALS,
  union,
} from './ordinal-set.ts';
import type { OrdinalSet } from './ordinal-set.ts';

const COUNT = 200;

const ordinalSet: fc.Arbitrary<OrdinalSet> = fc
  .tuple(
    fc.oneof(
      fc.uniqueArray(fc.nat(COUNT - 1), { maxLength: 4 }),
      fc.uniqueArray(fc.nat(COUNT - 1), { maxLength: COUNT }),
    ),
    fc.boolean(),
  )
  .map(([ordinals, isExcept]) => ({ ordinals: Uint32Array.from(ordinals).sort(), isExcept }));

const members = (set: OrdinalSet): number[] => [...membersBelow(set, COUNT)];

test('intersection and union are those of sets', () => {
  fc.assert(
    fc.property(ordinalSet, ordinalSet, (a, b) => {
      const [left, right] = [new Set(members(a)), new Set(members(b))];

      expect(members(intersection(a, b))).toEqual([...left].filter((i) => right.has(i)));
      expect(members(union(a, b))).toEqual([...new Set([...left, ...right])].sort((x, y) => x - y));
    }),
    { numRuns: 500 },
  );
});

test('a set and its complement are everything and have nothing in common', () => {
  fc.assert(
    fc.property(ordinalSet, (set) => {
      expect(members(union(set, complement(set)))).toEqual(members(ALL_ORDINALS));
      expect(members(intersection(set, complement(set)))).toEqual(members(NO_ORDINALS));
    }),
  );
});

test('members are a list of the caller, without those beyond the end', () => {
  const ordinals = Uint32Array.of(1, 5, 9);
  const list = membersBelow({ ordinals, isExcept: false }, 9);

  list.fill(7);

  expect([...ordinals]).toEqual([1, 5, 9]);
  expect(list).toHaveLength(2);
});
