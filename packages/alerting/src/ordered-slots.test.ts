// Slots are in order of their ids, whatever the order of insertion.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OrderedSlots } from './ordered-slots.ts';

/** The ids in the order in which the slots are listed. */
function listed(ids: readonly string[]): readonly string[] {
  const order = new OrderedSlots((slot) => ids[slot] ?? '');
  ids.forEach((_, slot) => order.add(slot));
  return order.blocks.flatMap((block) => block.map((slot) => ids[slot] ?? ''));
}

const byText = (a: string, b: string): number => (a < b ? -1 : 1);

test('any ids are listed in order', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ maxLength: 4 }), { maxLength: 200 }), (ids) => {
      expect(listed(ids)).toEqual(ids.toSorted(byText));
    }),
  );
});

test.each<[string, (i: number) => number]>([
  ['in order', (i) => i],
  ['in reverse', (i) => 4999 - i],
  // 5,000 and 1,777 have no common divisor: every number once.
  ['mixed', (i) => (i * 1777) % 5000],
])('many blocks of ids that come %s are listed in order', (_order, number) => {
  const ids = Array.from({ length: 5000 }, (_, i) => `host-${String(number(i)).padStart(4, '0')}`);

  expect(listed(ids)).toEqual(ids.toSorted(byText));
});
