import fc from 'fast-check';
import { expect, test } from 'vitest';

import { isEndFunction, isPreferred, pickTied } from './merge-heads.ts';

type Head = { readonly time: number; readonly value: number; readonly text: number };

/**
 * The heap of the older system with all rows in it, those of other times too: its first two rows.
 */
function firstTwo(heads: readonly Head[], name: 'first' | 'last'): readonly Head[] {
  const heap = name === 'last' ? heads.toReversed() : [...heads];
  const sign = name === 'last' ? -1 : 1;
  const isLess = (a: Head, b: Head): boolean => {
    if (a.time !== b.time) return (a.time - b.time) * sign < 0;
    // A row without a text is equal to all.
    return a.text > 0 && b.text > 0 && (a.text - b.text) * sign < 0;
  };
  const sink = (from: number): void => {
    for (let at = from, child = 2 * at + 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && isLess(heap[child + 1]!, heap[child]!)) child++;
      if (!isLess(heap[child]!, heap[at]!)) return;
      [heap[at], heap[child]] = [heap[child]!, heap[at]!];
      at = child;
    }
  };
  for (let at = Math.floor(heap.length / 2) - 1; at >= 0; at--) sink(at);
  const popped: Head[] = [];
  for (let k = 0; k < 2 && heap.length > 0; k++) {
    popped.push(heap[0]!);
    const end = heap.pop()!;
    if (heap.length > 0) heap[0] = end;
    sink(0);
  }
  return popped;
}

const head = fc.record({ time: fc.nat(2), value: fc.nat(9), text: fc.nat(2) });

test('picks the larger of the first two rows of the whole heap', () => {
  fc.assert(
    fc.property(
      fc.array(head, { minLength: 1, maxLength: 40 }),
      fc.constantFrom('first' as const, 'last' as const),
      (heads, name) => {
        const [one, two] = firstTwo(heads, name);
        const wanted = two !== undefined && two.time === one!.time && two.value > one!.value;
        const tied = heads.flatMap(({ time, value, text }, place) =>
          time === one!.time ? [{ place, value, text }] : [],
        );
        const [first, ...others] = tied;

        const picked = pickTied([first!, ...others], heads.length, name, (a, b) => {
          if (a.text === 0 || b.text === 0) return 0;
          return (a.text - b.text) * (name === 'last' ? -1 : 1);
        });

        expect(heads[picked.place]).toEqual(wanted ? two : one);
      },
    ),
    { numRuns: 2000 },
  );
});

test('first prefers false and last true of two booleans', () => {
  expect(isPreferred(false, true, 'first')).toBe(true);
  expect(isPreferred(true, false, 'first')).toBe(false);
  expect(isPreferred(true, false, 'last')).toBe(true);
  expect(['first', 'last', 'min', undefined].map(isEndFunction)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('the larger of two texts is the one with the larger bytes', () => {
  // UTF-16 has them in the other order.
  expect(isPreferred('\u{10000}', '\uffff', 'last')).toBe(true);
  expect(isPreferred('\uffff', '\u{10000}', 'first')).toBe(false);
});
