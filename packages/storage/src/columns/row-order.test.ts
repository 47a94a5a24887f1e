import fc from 'fast-check';
import { expect, test } from 'vitest';

import { RowBlock } from './row-block.ts';
import { orderByGroup, RowKeys, rowOrder, timeBoundsOf } from './row-order.ts';

/** Times whose halves of 32 bits differ in either, with many equal ones. */
const time = fc.oneof(fc.bigInt(-3n, 3n), fc.bigInt(-(1n << 33n), 1n << 33n));

test('orderByGroup gives the order by group and time, without the rows of no group', () => {
  const GROUPS = 4;
  const row = fc.record({ group: fc.nat(GROUPS), time });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), fc.boolean(), (rows, wantsTimes) => {
      const groups = Uint32Array.from(rows, ({ group }) =>
        group === GROUPS ? 2 ** 32 - 1 : group,
      );
      const times = BigInt64Array.from(rows, (one) => (wantsTimes ? one.time : 0n));
      const before = wantsTimes ? rowOrder(new RowKeys(times)) : undefined;
      const all = rowOrder(new RowKeys(times, groups));

      const wanted = all.filter((at) => groups[at]! < GROUPS);
      expect(orderByGroup(groups, GROUPS, before)).toEqual(wanted);
    }),
  );
});

test('timeBoundsOf finds the first and the last of times in any order', () => {
  fc.assert(
    fc.property(fc.array(time, { minLength: 1, maxLength: 20 }), (times) => {
      const ordered = times.toSorted((a, b) => (a < b ? -1 : 1));

      const bounds = timeBoundsOf(BigInt64Array.from(times));
      expect(bounds).toEqual({ min: ordered[0], max: ordered.at(-1) });
    }),
  );
});

test('timeBoundsOf no times is a first above the last, as in a block without rows', () => {
  expect(timeBoundsOf(new BigInt64Array())).toEqual(new RowBlock(1).timeBounds);
});
