import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { finishSteps, selectInSteps, sortInSteps, STEP_ITEMS } from './steps.ts';
import type { Calculation } from './steps.ts';

/** How often the work gave way. */
function countSteps(steps: Calculation<unknown>): number {
  let count = 0;
  while (steps.next().done !== true) count++;
  return count;
}

/** Numbers in an order that has no pattern. */
function scattered(count: number): number[] {
  return Array.from({ length: count }, (_, i) => (i * 7919) % count);
}

describe('sorting', () => {
  test('agrees with the order of an array, equal items as they came', () => {
    const items = scattered(STEP_ITEMS * 5 + 3).map((value, at) => ({ value: value % 100, at }));
    const byValue = (a: { value: number }, b: { value: number }): number => a.value - b.value;

    expect(finishSteps(sortInSteps(items, byValue))).toEqual(items.toSorted(byValue));
  });

  test('gives way once per block, and while blocks are merged', () => {
    const steps = countSteps(sortInSteps(scattered(STEP_ITEMS * 4), (a, b) => a - b));

    expect(steps).toBeGreaterThanOrEqual(4 + 2 * 4);
  });

  test('costs next to no steps where everything is in order already', () => {
    const items = Array.from({ length: STEP_ITEMS * 4 }, (_, i) => i);
    let comparisons = 0;
    const steps = countSteps(
      sortInSteps(items, (a, b) => {
        comparisons++;
        return a - b;
      }),
    );

    expect(comparisons).toBeLessThan(items.length * 1.1);
    // A block each, three merges, and the answer.
    expect(steps).toBe(4 + 3 + 4);
  });

  test('of nothing is nothing', () => {
    expect(finishSteps(sortInSteps([], () => 0))).toEqual([]);
  });
});

describe('selecting', () => {
  const doubles = fc.array(fc.oneof(fc.double(), fc.integer({ min: 0, max: 3 })), {
    minLength: 1,
    maxLength: 200,
  });

  test('finds what a sorted array has there, NaN last', () => {
    fc.assert(
      fc.property(doubles, fc.nat(), (list, at) => {
        const values = Float64Array.from(list);
        const sorted = values.slice().sort();
        const rank = at % values.length;

        finishSteps(selectInSteps(values, rank));

        // There are two zeros for a sort, and one for a comparison.
        expect(values[rank]! + 0).toBe(sorted[rank]! + 0);
        for (const before of values.subarray(0, rank)) {
          expect(
            before > sorted[rank]! || (Number.isNaN(before) && !Number.isNaN(sorted[rank]!)),
          ).toBe(false);
        }
      }),
    );
  });

  test('finds integers of 64 bits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { minLength: 1 }),
        fc.nat(),
        (list, at) => {
          const values = BigInt64Array.from(list);
          const sorted = values.slice().sort();
          const rank = at % values.length;

          finishSteps(selectInSteps(values, rank));

          expect(values[rank]).toBe(sorted[rank]);
        },
      ),
    );
  });

  test.each([
    ['scattered', (count: number) => scattered(count)],
    ['ascending', (count: number) => Array.from({ length: count }, (_, i) => i)],
    ['descending', (count: number) => Array.from({ length: count }, (_, i) => -i)],
    ['equal', (count: number) => Array.from({ length: count }, () => 1)],
    ['in halves', (count: number) => Array.from({ length: count }, (_, i) => i % (count / 2))],
  ])(
    'takes a number of steps that grows with the values, not with their square: %s',
    (_name, make) => {
      const count = STEP_ITEMS * 16;
      const steps = countSteps(selectInSteps(Float64Array.from(make(count)), count / 2));

      expect(steps).toBeGreaterThan(8);
      expect(steps).toBeLessThan(200);
    },
  );
});
