import fc from 'fast-check';
import { expect, test } from 'vitest';

import { orderRuns } from './run-order.ts';

/** Rows that came in batches, each strictly ascending; the numbers are those of arrival. */
const batches = fc.array(
  fc
    .uniqueArray(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), {
      minLength: 1,
      maxLength: 8,
    })
    .map((times) => times.toSorted((a, b) => (a < b ? -1 : 1))),
  { minLength: 1, maxLength: 5 },
);
const apart = fc
  .tuple(fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 6 }))
  .map(([starts]) =>
    starts.map((s) =>
      Array.from({ length: 6 }, (_, i) => BigInt(s) * 2n ** 33n + BigInt(i) * 2n ** 31n),
    ),
  );

test('rows are moved when that makes their times ascend, and only then', () => {
  fc.assert(
    fc.property(fc.oneof(batches, apart), (all) => {
      const times = BigInt64Array.from([0n, ...all.flat(), 0n]);
      const rows = Uint32Array.from(times, (_, i) => 100 + i);
      const end = times.length - 1;

      const isOrdered = orderRuns(rows, times, { start: 1, end });

      const inOrder = Array.from(times.subarray(1, end), (time, i) => ({
        time,
        row: 101 + i,
      })).sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
      if (isOrdered) expect([...rows]).toEqual([100, ...inOrder.map(({ row }) => row), 100 + end]);
      else expect([...rows]).toEqual(Array.from(times, (_, i) => 100 + i));
    }),
  );
});

test('batches that changed places are put in order; equal times, overlaps and single rows are left alone', () => {
  const order = (times: readonly bigint[]): readonly number[] | undefined => {
    const rows = Uint32Array.from(times, (_, i) => i);
    const part = { start: 0, end: times.length };
    return orderRuns(rows, BigInt64Array.from(times), part) ? [...rows] : undefined;
  };
  const four = (first: bigint): bigint[] => [first, first + 1n, first + 2n, first + 3n];

  expect(order([...four(20n), ...four(-5n), ...four(10n)])).toEqual([
    4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3,
  ]);
  expect(order([...four(20n), ...four(17n)])).toBeUndefined();
  expect(order([...four(20n), ...four(22n), ...four(0n)])).toBeUndefined();
  expect(order([4n, 3n, 2n, 1n])).toBeUndefined();
});
